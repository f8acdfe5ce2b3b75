/**
 * The statement that tells whether something has changed: on SQLite its value is another one after
 * each commit of another connection, including those of other processes. It reads no table and runs
 * with every request of a user, so the log, the figures and the traces leave it out.
 */
export const CHANGE_COUNTER = 'pragma data_version';
