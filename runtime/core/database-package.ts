/**
 * The package that changes and moves databases. It imports this one, so it is loaded by its name,
 * and only where something is to be changed: a server whose migrations are all applied never does.
 */
export const loadDatabase = () => import('@twofold/database');
