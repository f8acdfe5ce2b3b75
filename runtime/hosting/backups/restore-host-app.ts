/** A server never needs this code, so it is loaded by the command that does. */
type RestoreHost = typeof import('./host-restore.ts').restoreHostApp;

/**
 * Brings the database and the keys of a server back on an empty host, for `generator host restore`.
 * The server restores its apps when it starts.
 *
 * @throws AppError `BACKUP_KEY_WRONG`, `BACKUP_DAMAGED`, `BACKUP_MISSING`, `HOST_NOT_EMPTY`
 * @example await restoreHostApp(app, { target: '/mnt/backups', key: process.env.BACKUP_KEY });
 */
export const restoreHostApp: RestoreHost = async (...given) =>
  (await import('./host-restore.ts')).restoreHostApp(...given);
