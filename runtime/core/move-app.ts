import { lostConnection } from './store/unreachable.ts';

/** A server never needs the code that moves rows, so it is loaded by the command that does. */
type Backup = typeof import('./backup-app.ts').backupApp;
type Restore = typeof import('./restore-app.ts').restoreApp;
type Copy = typeof import('./copy-app.ts').copyApp;

/**
 * Sends the rows of everything that a server owns, as they were at one moment, for `generator db
 * backup`. Servers may go on writing.
 *
 * @example await backupApp(app, {}, { channel });
 */
export const backupApp: Backup = async (...given) =>
  explained((await import('./backup-app.ts')).backupApp(...given));

/**
 * Writes the rows of a backup and compares them, for `generator db restore`: all of them or none.
 *
 * @example await restoreApp(app, { replace: true }, { channel });
 */
export const restoreApp: Restore = async (...given) =>
  explained((await import('./restore-app.ts')).restoreApp(...given));

/**
 * Copies the rows of one database to another and compares them, for `generator db copy`.
 *
 * @example await copyApp(app, { from: 'file:data/app.db', to: 'postgres://localhost/shop' });
 */
export const copyApp: Copy = async (...given) =>
  explained((await import('./copy-app.ts')).copyApp(...given));

const explained = <T>(moved: Promise<T>): Promise<T> =>
  moved.catch((error: unknown) => {
    throw lostConnection(error) ?? error;
  });
