/* folder.h - a folder that goes away, and its files as text. */
#ifndef TARRY_TEST_FOLDER_H
#define TARRY_TEST_FOLDER_H

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tarry-test-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static inline const char *path_of(const char *name)
{
    static char paths[4][200];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline int count_files(const char *path)
{
    DIR *dir = opendir(path);
    int count = 0;
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;)
        count += e->d_name[0] != '.';
    if (dir != NULL)
        closedir(dir);
    return count;
}

static inline int remove_one(const char *path, const struct stat *unused,
                             int kind, struct FTW *place)
{
    (void)unused, (void)kind, (void)place;
    return remove(path);
}

static inline int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The whole file, ended with free; NULL if there is none. */
static inline char *text_of(const char *path, size_t *size)
{
    FILE *file = fopen(path, "r");
    size_t length = 0;
    if (file == NULL)
        return NULL;
    char *text = malloc(1 << 22);
    if (text != NULL) {
        length = fread(text, 1, (1 << 22) - 1, file);
        text[length] = '\0';
    }
    if (size != NULL)
        *size = length;
    fclose(file);
    return text;
}

#endif
