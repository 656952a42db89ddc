/* test_figure.c - figures: what is drawn, what is left out, hostile texts. */
#define _GNU_SOURCE
#include "check.h"
#include "figure/figure.h"
#include "folder.h"

static void put(json_t *object, const char *key, json_t *value)
{
    assert_int_equal(json_object_set_new(object, key, value), 0);
}

/* JSON with ' for ", to be read. */
static json_t *parse(const char *text)
{
    json_error_t error;
    char *copy = strdup(text);
    for (char *c = copy; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    json_t *json = json_loads(copy, 0, &error);
    free(copy);
    if (json == NULL)
        fail_msg("%s", error.text);
    return json;
}

/* A zero, an interval that reaches below zero, and nothing but zeros. */
static json_t *sweep(void)
{
    return parse(
        "{'id': 'sweep', 'title': 'A sweep', 'note': 'Marks are means.',"
        " 'x': {'label': 'delay', 'log': true},"
        " 'y': {'label': 'penalty', 'log': true},"
        " 'series': [{'name': 'one, \\'two\\'', 'kind': 'points', 'points':"
        "   [[1, 2.385, 2, 3], [10, 0, -1, 1], [100, 30, -5, 70]]},"
        "  {'name': 'fit', 'kind': 'fit', 'points': [[1, 2], [100, 40]]},"
        "  {'name': 'zeros', 'kind': 'line', 'points': [[1, 0], [2, 0]]},"
        "  {'name': 'law', 'kind': 'theory', 'points': [[1, 1], [100, 50]]},"
        "  {'name': 'curve', 'kind': 'band', 'points':"
        "   [[1, 5, 4, 6], [50, 7, null, null]]}]}");
}

/* The gnuplot program of a figure, ended with free. */
static char *script_of(const json_t *json, figure_format format)
{
    tarry__figure f;
    static char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(tarry__figure_read(json, &f, NULL), TARRY_OK);
    tarry__figure_script(&f, format, out);
    fclose(out);
    tarry__figure_clear(&f);
    return text;
}

static void draw(const json_t *json, const char *name)
{
    tarry_error error = {""};
    if (tarry__figure_write(json, path_of(name), &error) != TARRY_OK)
        fail_msg("%s: %s", name, error.text);
}

static void csv_holds_every_point(void **state)
{
    (void)state;
    json_t *json = sweep();
    assert_int_equal(tarry__figure_csv(json, path_of("s.csv"), NULL), TARRY_OK);
    char *text = text_of(path_of("s.csv"), NULL);
    assert_string_equal(text, "series,x,y,lo,hi\n"
                              "\"one, \"\"two\"\"\",1,2.3849999999999998,2,3\n"
                              "\"one, \"\"two\"\"\",10,0,-1,1\n"
                              "\"one, \"\"two\"\"\",100,30,-5,70\n"
                              "\"fit\",1,2,,\n"
                              "\"fit\",100,40,,\n"
                              "\"zeros\",1,0,,\n"
                              "\"zeros\",2,0,,\n"
                              "\"law\",1,1,,\n"
                              "\"law\",100,50,,\n"
                              "\"curve\",1,5,4,6\n"
                              "\"curve\",50,7,,\n");
    free(text);
    json_decref(json);
}

static void log_axes_leave_out_what_is_not_positive_and_say_so(void **state)
{
    (void)state;
    json_t *json = sweep();
    char *note = tarry__figure_note(json);
    assert_string_equal(note,
                        "Marks are means. Left out: 3 points with a value "
                        "that is not positive, on a logarithmic axis. "
                        "Intervals that reach zero or below are cut at the "
                        "axis.");
    free(note);
    char *script = script_of(json, FIGURE_SVG);
    assert_null(strstr(script, "zeros")); /* not in the key either */
    assert_null(strstr(script, "\n10 0 "));
    assert_null(strstr(script, " -5 "));
    assert_non_null(strstr(script, "\n100 30 "));
    free(script);
    put(json, "y", parse("{'label': 'penalty'}"));
    script = script_of(json, FIGURE_SVG);
    assert_non_null(strstr(script, "zeros"));
    assert_non_null(strstr(script, "\n10 0 -1 1 "));
    free(script);
    note = tarry__figure_note(json);
    assert_string_equal(note, "Marks are means.");
    free(note);
    json_decref(json);
}

static void axes_reach_from_cut_ends_to_the_highest(void **state)
{
    (void)state;
    json_t *json = sweep();
    tarry__figure f;
    tarry__figure_read(json, &f, NULL);
    const figure_view v = tarry__figure_view(&f);
    CHECK_AT_MOST(v.max_y, 100);
    CHECK_AT_MOST(70, v.max_y);
    CHECK_AT_MOST(v.min_y, 0.5);
    CHECK_AT_MOST(0.2, v.min_y);
    CHECK_AT_MOST(v.min_x, 1);
    CHECK_AT_MOST(100, v.max_x);
    tarry__figure_clear(&f);
    json_decref(json);
}

/* Every text of the figure, whatever it holds, is read back from the SVG. */
static void hostile_texts_are_drawn_as_they_are(void **state)
{
    static const char hostile[] =
        "a'b''c\"d`touch pwned`@e_f^{g}&h~i\\j\\n$(k) <script>l</script> #%d";
    static const char drawn[] =
        "a'b''c\"d`touch pwned`@e_f^{g}&amp;h~i\\j\\n$(k) "
        "&lt;script>l&lt;/script> #%d</text>";
    (void)state;
    json_t *json = sweep();
    put(json, "title", json_string("short"));
    put(json_object_get(json, "x"), "label", json_string(hostile));
    put(json_object_get(json, "y"), "label", json_string(hostile));
    put(json_array_get(json_object_get(json, "series"), 0), "name",
        json_string(hostile));
    draw(json, "hostile.svg");
    char *text = text_of(path_of("hostile.svg"), NULL);
    int count = 0;
    for (char *at = text; (at = strstr(at, drawn)) != NULL; at++)
        count++;
    assert_int_equal(count, 3);
    assert_null(strstr(text, "<script"));
    free(text);
    put(json, "title", json_string("x\nplot 'y'\n!touch z"));
    char *script = script_of(json, FIGURE_PNG);
    assert_non_null(strstr(script, "\"x plot \\047y\\047 \\041touch z\""));
    free(script);
    json_decref(json);
}

static void every_format_is_what_it_says_and_the_same_again(void **state)
{
    static const char *const begins[] = {"<?xml", "%PDF-", "\x89PNG"};
    static const char *const names[] = {"a.svg", "a.pdf", "a.png"};
    (void)state;
    json_t *json = sweep();
    char *first[3];
    size_t size[3], again;
    for (int i = 0; i < 3; i++) {
        draw(json, names[i]);
        first[i] = text_of(path_of(names[i]), &size[i]);
        assert_memory_equal(first[i], begins[i], strlen(begins[i]));
        assert_true(size[i] > 3000);
    }
    usleep(1100000); /* another second, for dates */
    for (int i = 0; i < 3; i++) {
        draw(json, names[i]);
        char *second = text_of(path_of(names[i]), &again);
        assert_int_equal(size[i], again);
        assert_memory_equal(first[i], second, again);
        free(second);
        free(first[i]);
    }
    json_decref(json);
}

static void figures_without_a_drawable_point_are_drawn_empty(void **state)
{
    static const char *const figures[] = {
        "{'series': []}", "{'series': [{'kind': 'line', 'points': []}]}",
        "{'y': {'log': true}, 'series': [{'kind': 'band', 'points': "
        "[[1, -2.385, -3, -2]]}]}",
        "{'x': {'log': true}, 'series': [{'kind': 'fit', 'points': "
        "[[0, 1]]}]}"};
    (void)state;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        json_t *json = parse(figures[i]);
        draw(json, "empty.svg");
        char *text = text_of(path_of("empty.svg"), NULL);
        assert_non_null(strstr(text, "nothing to draw"));
        free(text);
        json_decref(json);
    }
}

/* One point, equal values, tiny and huge ones. */
static void odd_ranges_are_drawn(void **state)
{
    static const char *const points[] = {
        "[[0, 0]]",
        "[[1, 5], [2, 5]]",
        "[[1e-9, 1e-12], [1e9, 1e15]]",
        "[[-1e7, -2.385e9], [1e7, 2.385e9]]",
        "[[3, 1000], [3, 1001]]",
        "[[1, 1e-300], [2, 1e300]]",
        "[[1, 1e17], [2, 100000000000000016]]"};
    (void)state;
    for (int log = 0; log < 2; log++)
        for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
            char text[300];
            snprintf(text, sizeof text,
                     "{'x': {'log': %s}, 'y': {'log': %s}, 'series': [{'kind':"
                     " 'points', 'points': %s}]}",
                     log ? "true" : "false", log ? "true" : "false", points[i]);
            json_t *json = parse(text);
            draw(json, "odd.svg");
            json_decref(json);
        }
}

static void refuse(const char *text, const char *says)
{
    tarry_error error = {""};
    json_t *json = parse(text);
    assert_int_equal(tarry__figure_write(json, path_of("no.svg"), &error),
                     TARRY_BAD_INPUT);
    if (strstr(error.text, says) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, says);
    assert_null(tarry__figure_note(json));
    json_decref(json);
}

static void what_is_no_figure_is_refused_and_leaves_no_file(void **state)
{
    (void)state;
    refuse("[]", "no list of series");
    refuse("{'id': '../etc', 'series': []}", "no name for a file");
    refuse("{'id': '.x', 'series': []}", "no name for a file");
    refuse("{'id': 'i', 'series': [3]}", "unknown kind");
    refuse("{'id': 'i', 'series': [{'kind': 'pie', 'points': []}]}", "'pie'");
    refuse("{'id': 'i', 'series': [{'kind': 'line'}]}", "no points");
    refuse("{'id': 'i', 'series': [{'name': 'n', 'kind': 'line', 'points': "
           "[[1, 2], [1]]}]}",
           "series 'n': point 1 is not");
    refuse("{'series': [{'kind': 'line', 'points': [[1, 'a']]}]}", "point 0");
    refuse("{'series': [{'kind': 'line', 'points': [[1, 2, 3, null]]}]}",
           "point 0");
    refuse("{'series': [{'kind': 'line', 'points': [[1, 2, 3, 4, 5]]}]}",
           "point 0");
    tarry_error error;
    json_t *json = sweep();
    assert_int_equal(tarry__figure_write(json, path_of("no.gif"), &error),
                     TARRY_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, ".svg, .pdf or .png"));
    assert_int_equal(tarry__figure_write(json, path_of("no/where.svg"), &error),
                     TARRY_IO_ERROR);
    assert_non_null(
        strstr(error.text, "no/where.svg: cannot write: No such file"));
    json_decref(json);
    assert_int_equal(access(path_of("no.svg"), F_OK), -1);
    assert_int_equal(access(path_of("no.gif"), F_OK), -1);
}

/* With a PATH that leads to no gnuplot, or to one that fails. */
static void without_gnuplot_old_files_stay(void **state)
{
    (void)state;
    tarry_error error;
    json_t *json = sweep();
    char *path = strdup(getenv("PATH"));
    FILE *old = fopen(path_of("old.svg"), "w");
    fputs("old", old);
    fclose(old);
    assert_int_equal(tarry__figure_check(&error), TARRY_OK);
    setenv("PATH", folder, 1);
    assert_int_equal(tarry__figure_check(&error), TARRY_IO_ERROR);
    assert_non_null(strstr(error.text, "gnuplot is not installed"));
    FILE *fake = fopen(path_of("gnuplot"), "w");
    fputs("#!/bin/sh\necho half a drawing\necho it hurts >&2\nexit 1\n", fake);
    fclose(fake);
    chmod(path_of("gnuplot"), 0755);
    const int before = count_files(folder);
    assert_int_equal(tarry__figure_write(json, path_of("old.svg"), &error),
                     TARRY_IO_ERROR);
    assert_string_equal(error.text, "gnuplot failed: it hurts");
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(count_files(folder), before);
    char *text = text_of(path_of("old.svg"), NULL);
    assert_string_equal(text, "old");
    free(text);
    json_decref(json);
}

/* ---- any numbers
 * ------------------------------------------------------------*/

static void append(json_t *list, json_t *value)
{
    assert_int_equal(json_array_append_new(list, value), 0);
}

/* Of any size and with all their digits; some are whole, some are 0. */
static double any_number(uint64_t *seed)
{
    const double sign = test_bits(seed) % 2 ? 1 : -1;
    const double size = pow(10, 24 * test_uniform(seed) - 12);
    const uint64_t kind = test_bits(seed) % 8;
    return sign * (kind == 0   ? 0
                   : kind == 1 ? round(100 * test_uniform(seed))
                               : size * (1 + test_uniform(seed)));
}

static json_t *any_figure(uint64_t *seed, bool log)
{
    json_t *points = json_array();
    const size_t count = 1 + test_bits(seed) % 20;
    for (size_t i = 0; i < count; i++) {
        const double x = any_number(seed), y = any_number(seed);
        const double low = y - fabs(any_number(seed)),
                     high = y + fabs(any_number(seed));
        append(points, test_bits(seed) % 3
                           ? json_pack("[f,f,f,f]", x, y, low, high)
                           : json_pack("[f,f]", x, y));
    }
    return json_pack("{s:{s:b}, s:{s:b}, s:[{s:s, s:s, s:o}]}", "x", "log", log,
                     "y", "log", log, "series", "name", "n", "kind", "points",
                     "points", points);
}

static tarry__figure figure_of(const json_t *json)
{
    tarry__figure f;
    assert_int_equal(tarry__figure_read(json, &f, NULL), TARRY_OK);
    return f;
}

static void csv_keeps_every_bit(void **state)
{
    uint64_t seed = 2385;
    (void)state;
    for (int k = 0; k < 50; k++) {
        json_t *json = any_figure(&seed, k % 2);
        tarry__figure f = figure_of(json);
        assert_int_equal(tarry__figure_csv(json, path_of("a.csv"), NULL),
                         TARRY_OK);
        char *text = text_of(path_of("a.csv"), NULL), *at = strchr(text, '\n');
        for (size_t i = 0; i < f.series[0].count; i++) {
            const figure_point *p = &f.series[0].point[i];
            const double part[] = {p->x, p->y, p->low, p->high};
            at = strchr(at + 1, ',');
            for (int c = 0; c < 4; c++, at++) {
                char *end;
                const double found = strtod(at + 1, &end);
                assert_true(isnan(part[c]) ? end == at + 1 : found == part[c]);
                at = strpbrk(at + 1, ",\n") - 1;
            }
        }
        assert_string_equal(at, "\n");
        free(text);
        tarry__figure_clear(&f);
        json_decref(json);
    }
}

/* All that is drawn lies between the ends of its axis, which are near. */
static void axes_hold_all_that_is_drawn(void **state)
{
    uint64_t seed = 5;
    (void)state;
    for (int k = 0; k < 500; k++) {
        const bool log = k % 2;
        json_t *json = any_figure(&seed, log);
        tarry__figure f = figure_of(json);
        const figure_view v = tarry__figure_view(&f);
        size_t drawn = 0, cut = 0;
        double low_x = INFINITY, high_x = -INFINITY, high_y = -INFINITY;
        for (size_t i = 0; i < f.series[0].count; i++) {
            const figure_point *p = &f.series[0].point[i];
            if (log && (p->x <= 0 || p->y <= 0))
                continue;
            drawn++;
            cut += log && p->low <= 0;
            assert_true(v.min_x <= p->x && p->x < v.max_x);
            assert_true(v.min_y <= p->y && p->y < v.max_y);
            assert_true(isnan(p->high) || p->high < v.max_y);
            assert_true(log || isnan(p->low) || p->low >= v.min_y);
            low_x = fmin(low_x, p->x);
            high_x = fmax(high_x, p->x);
            high_y = fmax(high_y, fmax(p->y, p->high));
        }
        assert_true(v.empty == (drawn == 0));
        assert_int_equal(v.dropped, f.series[0].count - drawn);
        assert_int_equal(v.cut, cut);
        assert_true(v.min_x < v.max_x && v.min_y < v.max_y);
        assert_true(!log || (v.min_x > 0 && v.min_y > 0));
        if (low_x < high_x && !log) {
            CHECK_AT_MOST(v.max_x - high_x, 0.05 * (v.max_x - v.min_x));
            CHECK_AT_MOST(v.max_y - high_y, 0.05 * (v.max_y - v.min_y));
        }
        tarry__figure_clear(&f);
        json_decref(json);
    }
}

/* What a label says: 12, 10^{6}, 1.5×10^{6}. */
static double meaning_of(const char *label)
{
    char *end;
    const char *power = strstr(label, "10^{"), *stop = strchr(label, '\'');
    const double first = strtod(label, &end);
    if (power == NULL || power > stop)
        return first;
    return (power == label ? 1 : first) * pow(10, atoi(power + 4));
}

/* Labels say where they stand, rise, and lie on the axis; so do data. */
static void check_labels(const char *script, char axis, double min, double max)
{
    char add[20];
    size_t count = 0;
    double last = -INFINITY;
    snprintf(add, sizeof add, "set %ctics add ('", axis);
    for (const char *at = script; (at = strstr(at, add)) != NULL; count++) {
        at += strlen(add);
        const double place = strtod(strchr(at, '\'') + 1, NULL);
        const double said = meaning_of(at);
        if (!(fabs(said - place) <= 1e-5 * fmax(fabs(place), fabs(said))))
            fail_msg("'%.20s' says %g at %g", at, said, place);
        assert_true(place >= min && place <= max && place > last);
        last = place;
    }
    assert_true(count >= 2 && count <= 25);
}

static void labels_say_where_they_stand(void **state)
{
    uint64_t seed = 6;
    (void)state;
    for (int k = 0; k < 500; k++) {
        json_t *json = any_figure(&seed, k % 2);
        tarry__figure f = figure_of(json);
        const figure_view v = tarry__figure_view(&f);
        char *script = script_of(json, FIGURE_SVG);
        check_labels(script, 'x', v.min_x, v.max_x);
        check_labels(script, 'y', v.min_y, v.max_y);
        free(script);
        tarry__figure_clear(&f);
        json_decref(json);
    }
}

/* x y low high mark: all digits, ends that are cut, a gap for what is left
 * out, and marks an eighth of the axis apart. */
static void data_are_drawn_as_they_are(void **state)
{
    uint64_t seed = 9;
    (void)state;
    for (int k = 0; k < 200; k++) {
        const bool log = k % 2;
        json_t *json = any_figure(&seed, log);
        tarry__figure f = figure_of(json);
        const figure_view v = tarry__figure_view(&f);
        char *script = script_of(json, FIGURE_SVG);
        char *at = strstr(script, "$s0 << END\n") + strlen("$s0 << END\n");
        double mark = 0;
        bool begun = false;
        for (size_t i = 0; i < f.series[0].count; i++) {
            const figure_point *p = &f.series[0].point[i];
            if (log && (p->x <= 0 || p->y <= 0)) {
                assert_true(!begun || *at == '\n');
                at += begun;
                continue;
            }
            const double low = isnan(p->low) ? p->y
                               : log         ? fmax(p->low, v.min_y)
                                             : p->low;
            const double high = isnan(p->high) ? p->y : p->high;
            const double place =
                log ? log10(p->x / v.min_x) / log10(v.max_x / v.min_x)
                    : (p->x - v.min_x) / (v.max_x - v.min_x);
            const double wanted[] = {p->x, p->y, low, high};
            for (int c = 0; c < 4; c++)
                assert_true(strtod(at, &at) == wanted[c]);
            const double marked = strtod(at, &at);
            if (fabs(fabs(place - mark) - 0.125) > 1e-9) {
                assert_true(fabs(place - mark) > 0.125 ? marked == p->y
                                                       : isnan(marked));
            }
            mark = isnan(marked) ? mark : place;
            begun = true;
            assert_int_equal(*at++, '\n');
        }
        assert_memory_equal(at, "END\n", 4);
        free(script);
        tarry__figure_clear(&f);
        json_decref(json);
    }
}

/* A fit has the colour of the series before it; others have their own. */
static void fits_have_the_colour_of_their_series(void **state)
{
    (void)state;
    static const char *const kinds[] = {"points", "fit",    "theory",
                                        "line",   "points", "fit"};
    static const int own[] = {0, 0, -1, 1, 2, 2};
    json_t *json = parse("{'series': []}");
    char *colour[6];
    for (size_t i = 0; i < 6; i++)
        append(json_object_get(json, "series"),
               json_pack("{s:s, s:[[i,i]]}", "kind", kinds[i], "points", 1, 2));
    char *script = script_of(json, FIGURE_SVG);
    for (size_t i = 0; i < 6; i++) {
        char using[20];
        snprintf(using, sizeof using, ", $s%zu using", i);
        colour[i] = strstr(strstr(script, using), "rgb '");
    }
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < i; k++)
            assert_true((memcmp(colour[i], colour[k], 12) == 0) ==
                        (own[i] == own[k]));
    free(script);
    json_decref(json);
}

/* Long titles are broken at spaces, after at most 50 characters of any size. */
static void titles_are_broken_at_spaces(void **state)
{
    uint64_t seed = 3;
    (void)state;
    for (int k = 0; k < 200; k++) {
        char title[400] = "", joined[400] = "", *to = joined;
        const size_t words = 1 + test_bits(&seed) % 20;
        for (size_t w = 0; w < words; w++) {
            strcat(title, w > 0 ? " " : "");
            for (size_t i = 1 + test_bits(&seed) % 8; i > 0; i--)
                strcat(title, k % 2 ? "\u00e9" : "e");
        }
        json_t *json = json_pack("{s:s, s:[]}", "title", title, "series");
        char *script = script_of(json, FIGURE_SVG);
        const char *at = strstr(script, "set title \"") + 10;
        size_t lines = 0;
        for (; *at == '"'; lines++) {
            size_t columns = 0;
            to += sprintf(to, "%s", lines > 0 ? " " : "");
            for (at++; *at != '"'; at++) {
                columns += ((unsigned char)*at & 0xC0) != 0x80;
                *to++ = *at;
            }
            assert_true(columns <= 50);
            at += strncmp(at, "\".\"\\n\".", 7) == 0 ? 7 : 1;
        }
        *to = '\0';
        assert_string_equal(joined, title);
        char size[60];
        snprintf(size, sizeof size, "svg size 440,%zu fixed", 310 + 20 * lines);
        assert_non_null(strstr(script, size));
        free(script);
        json_decref(json);
    }
}

static void ids_have_up_to_100_characters(void **state)
{
    (void)state;
    for (int length = 99; length <= 101; length++) {
        char id[200] = "";
        memset(id, 'x', (size_t)length);
        json_t *json = json_pack("{s:s, s:[]}", "id", id, "series");
        tarry__figure f;
        assert_true((tarry__figure_read(json, &f, NULL) == TARRY_OK) ==
                    (length <= 100));
        tarry__figure_clear(&f);
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_holds_every_point),
        cmocka_unit_test(csv_keeps_every_bit),
        cmocka_unit_test(axes_hold_all_that_is_drawn),
        cmocka_unit_test(labels_say_where_they_stand),
        cmocka_unit_test(data_are_drawn_as_they_are),
        cmocka_unit_test(fits_have_the_colour_of_their_series),
        cmocka_unit_test(titles_are_broken_at_spaces),
        cmocka_unit_test(ids_have_up_to_100_characters),
        cmocka_unit_test(log_axes_leave_out_what_is_not_positive_and_say_so),
        cmocka_unit_test(axes_reach_from_cut_ends_to_the_highest),
        cmocka_unit_test(hostile_texts_are_drawn_as_they_are),
        cmocka_unit_test(every_format_is_what_it_says_and_the_same_again),
        cmocka_unit_test(figures_without_a_drawable_point_are_drawn_empty),
        cmocka_unit_test(odd_ranges_are_drawn),
        cmocka_unit_test(what_is_no_figure_is_refused_and_leaves_no_file),
        cmocka_unit_test(without_gnuplot_old_files_stay),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
