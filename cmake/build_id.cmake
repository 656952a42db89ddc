# Writes OUT, a C file with a digest of the sources under ROOT and of FLAGS:
# journals of trials are only continued by a program made of the same.
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/src/*.[ch] ${ROOT}/include/*.h)
list(SORT files)
set(digests "${FLAGS}")
foreach(name ${files})
    file(SHA256 ${ROOT}/${name} digest)
    string(APPEND digests "${name} ${digest}\n")
endforeach()
string(SHA256 all "${digests}")
string(SUBSTRING ${all} 0 16 all)
file(WRITE ${OUT} "#include \"lab/journal.h\"\n\n"
     "const char tarry__journal_build[] = \"${all}\";\n")
