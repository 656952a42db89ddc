/* paper.c - the list of rows, and what each becomes. */
#include "paper/paper.h"

#include <string.h>
#include "base/base.h"

const tarry__paper_row *const tarry__paper_rows[] = {
    &tarry__paper_row_stochastic,
    &tarry__paper_row_adversarial,
    &tarry__paper_row_by_arm,
    &tarry__paper_row_adversarial_by_arm,
    &tarry__paper_row_loss_dependent,
    &tarry__paper_row_payoff,
    &tarry__paper_row_lower_loss,
    &tarry__paper_row_trade_off,
    &tarry__paper_row_growth,
    &tarry__paper_row_bounds,
    &tarry__paper_row_algorithms,
    &tarry__paper_row_estimates,
    &tarry__paper_row_best_kept,
    &tarry__paper_row_design,
    &tarry__paper_row_adversarial_losses,
    NULL,
};

const tarry__paper_row *tarry__paper_find(const char *id)
{
    for (const tarry__paper_row *const *r = tarry__paper_rows; *r; r++)
        if (strcmp((*r)->id, id) == 0)
            return *r;
    return NULL;
}

/* The first judged check is the row's headline. */
static const json_t *headline(const json_t *checks)
{
    size_t i;
    json_t *check;
    json_array_foreach(checks, i, check)
    {
        if (!json_is_null(json_object_get(check, "verdict")))
            return check;
    }
    return NULL;
}

static json_t *to_json(const tarry__paper_row *row, const tarry__sheet *s)
{
    const json_t *first = headline(s->checks);
    json_t *paper =
        row->here != NULL
            ? json_pack("{s:s?, s:s?, s:s, s:O}", "bandits", row->bandits,
                        "prior", row->prior, "here", row->here, "seen", s->seen)
            : json_null();
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:s, s:O?, s:O?, s:O?, s:O?, s:O?, s:s, "
        "s:s, s:O, s:O, s:O}",
        "id", row->id, "title", row->title, "group",
        row->here != NULL ? "table" : "theorem", "claim", row->claim, "paper",
        paper, "headline",
        first != NULL ? json_string_value(json_object_get(first, "text")) : "",
        "theory", json_object_get(first, "theory"), "relation",
        json_object_get(first, "relation"), "tolerance",
        json_object_get(first, "tolerance"), "measured",
        json_object_get(first, "measured"), "ci95",
        json_object_get(first, "ci95"), "verdict",
        tarry__fit_verdict_names[s->empty ? TARRY__FIT_UNRESOLVED : s->verdict],
        "because", s->because != NULL ? s->because : "nothing was checked",
        "checks", s->checks, "figures", s->figures, "data", s->data);
}

tarry_status tarry__paper_row_ask(const tarry__paper_row *row,
                                  tarry__plan *plan)
{
    row->ask(plan);
    return plan->failed;
}

json_t *tarry__paper_row_judge(const tarry__paper_row *row,
                               const tarry__plan *plan, const char *command)
{
    tarry__sheet s = {
        .lab = plan->lab,
        .plan = plan,
        .measured = tarry__base_zalloc(plan->n_points, sizeof *s.measured),
        .command = command,
        .checks = json_array(),
        .figures = json_array(),
        .data = json_array(),
        .seen = json_object(),
        .empty = true};
    json_t *json = NULL;
    if (s.measured != NULL && s.checks != NULL && s.figures != NULL &&
        s.data != NULL && s.seen != NULL) {
        tarry__sheet_measure(&s);
        if (s.failed == TARRY_OK)
            row->judge(&s);
        if (s.failed == TARRY_OK)
            json = to_json(row, &s);
    }
    tarry__base_free(s.measured);
    json_decref(s.checks);
    json_decref(s.figures);
    json_decref(s.data);
    json_decref(s.seen);
    return json;
}
