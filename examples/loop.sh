#!/usr/bin/env bash
# loop.sh - `tarry pipe` as a co-process of a shell script.
#
# Packets can take five routes (arms.csv).  A packet is slow (loss 1) or not
# (loss 0), more often the more its route uses radio and satellite, and the
# report comes back 20 to 99 packets later.  Nobody here knows the rates below.
set -eu
here=$(dirname "$0")
tarry=${TARRY:-$here/../build/tarry}
packets=${1:-15000}
slow=(185 500 815 410 496)  # in 1000: cable 50, radio 500, satellite 950
mapfile -t names < <(tail -n +2 "$here/arms.csv" | cut -d, -f1)

coproc POLICY { exec "$tarry" pipe --policy phased-adversarial \
    --arms "$here/arms.csv" --horizon "$packets" --range 0,1 --by-number; }

ask() {  # a line to the policy, its answer in $answer
    echo "$@" >&"${POLICY[1]}"
    read -r answer <&"${POLICY[0]}"
}

report() {  # the phase if it is a new one, from the JSON of `status`
    ask status
    [[ $answer =~ \"phase\":\ ([0-9]+).*\"active\":\ \[([0-9, ]+)\] ]]
    [[ ${BASH_REMATCH[1]} != "$phase" ]] || return 0
    phase=${BASH_REMATCH[1]}
    printf 'packet %5d  phase %d  routes still in:' "$t" "$phase"
    for arm in ${BASH_REMATCH[2]//,/}; do printf ' %s' "${names[arm]}"; done
    echo
}

RANDOM=2385
phase=0
due=()  # due[t]: "ID LOSS;ID LOSS;..." that come back after packet t
for ((t = 1; t <= packets; t++)); do
    ask choose
    id=${answer% *} arm=${answer#* }
    due[t + 20 + RANDOM % 80]+="$id $((RANDOM % 1000 < slow[arm]));"
    while [[ -n ${due[t]:-} ]]; do
        ask observe "${due[t]%%;*}"
        due[t]=${due[t]#*;}
    done
    unset "due[t]"
    ((t % 100 != 1)) || report
done
ask quit
