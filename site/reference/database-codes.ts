import { type ErrorCode, row } from './error-code.ts';

/** Codes of the commands of a database, of its migrations and its backups, and of code of yours. */
export const databaseCodes: readonly ErrorCode[] = [
  row(
    'MIGRATION_UNKNOWN',
    404,
    'there is no applied migration of this name',
    '`npm run migrate -- status` lists them',
  ),
  row(
    'USER_UNKNOWN',
    404,
    'no user who may sign in has this id',
    'give `query` of the MCP server the id of a row, not an address',
  ),
  row(
    'DATABASE_GUARDED',
    409,
    'the command could lose rows of a production database',
    'repeat it with `--confirm` and the name of the database',
  ),
  row(
    'DATABASE_NOT_EMPTY',
    409,
    'a table of the first migration is there already',
    'use an empty database, or import this one',
  ),
  row(
    'MIGRATION_BASELINE_DIFFERS',
    409,
    'the tables are not those that the baseline describes',
    'bring either side to the other: the message lists the differences',
  ),
  row(
    'ROWS_IN_THE_WAY',
    409,
    'rows break a rule that the migration adds',
    'mend the rows that the message counts, then migrate again',
  ),
  row(
    'TARGET_HAS_ROWS',
    409,
    'the database to restore into has rows',
    'use an empty one, or `--replace`',
  ),
  row(
    'BACKUP_AHEAD',
    500,
    'the backup has migrations that the project does not have',
    'use the version of the project that made it',
  ),
  row(
    'BACKUP_DAMAGED',
    500,
    'the file was cut off or changed',
    'use another backup; nothing was written',
  ),
  row(
    'MIGRATION_CHANGED',
    500,
    'a migration that is applied has another text now',
    'put its text back, and write a new migration',
  ),
  row(
    'MIGRATION_DRAFT',
    500,
    'a draft came to a guarded database',
    '`npm run migrate -- save`, then commit',
  ),
  row(
    'MIGRATION_MISSING',
    500,
    'an applied migration has no file',
    'go back to its branch, or undo it',
  ),
  row(
    'MIGRATION_ONE_WAY',
    500,
    'the migration cannot be undone without a loss',
    'restore a backup, or write a migration forwards',
  ),
  row(
    'MIGRATION_SQUASHED',
    500,
    'the database applied only some of the migrations that were joined',
    'apply the others with the earlier version first',
  ),
  row(
    'MIGRATION_STEP_MISSING',
    500,
    'the schema has a table or column that no migration makes',
    '`npm run generate`, then migrate',
  ),
  row(
    'TARGET_DIFFERS',
    500,
    'the rows that were written are not those that were read',
    'nothing was kept; try again, then report it',
  ),
  row(
    'VALUE_NOT_HELD',
    500,
    'the other database cannot hold a value',
    'change the value at the place that the message names',
  ),
  row(
    'TRANSACTION_CLOSED',
    500,
    'your code used a transaction after its end',
    'await every call within the transaction',
  ),
  row(
    'TRANSACTION_ISOLATION',
    500,
    'a nested transaction asks for another isolation than the one around it',
    'ask for it in the outer one',
  ),
  row(
    'MIGRATION_LOCKED',
    503,
    'others hold a lock that a migration needs',
    'wait for the long transaction to end, then migrate again',
  ),
  row(
    'DATABASE_URL_MISMATCH',
    500,
    '`DATABASE_DIRECT_URL` leads to another database than `DATABASE_URL`; the start ends',
    'give both the address of one database',
  ),
  row(
    'DATABASE_UNAVAILABLE',
    503,
    'the database was lost while the answer was made; `outcome` says whether a write was done',
    'try again after the time in `Retry-After`; repeat a write of outcome `unknown` only after looking',
  ),
  row(
    'LOCK_LOST',
    503,
    'the connection that held a lock has ended before the work did',
    'do the work again; the lock may have been held by others meanwhile',
  ),
  row(
    'WAITING_FOR_LOCK',
    503,
    'another server or command held the lock for as long as was waited; a start or command ends with 75',
    'try again; the log names who holds it',
  ),
];
