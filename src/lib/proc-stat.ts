/**
 * Returns the fields of `/proc/<pid>/stat` behind the program's name, which may contain spaces: state, parent, group, session and
 * so on, so that the first is field 3 of proc(5).
 */
export const fieldsOfStat = (stat: string): string[] => stat.slice(stat.lastIndexOf(")") + 2).split(" ");
