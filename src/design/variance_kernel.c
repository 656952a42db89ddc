typedef int empty;
