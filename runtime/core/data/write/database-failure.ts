import { AppError, failure, type FailureOptions } from '../../errors.ts';
import { endedByLimit } from '../../store/unreachable.ts';
import { isLastOwner, LAST_OWNER } from '../../store/last-owner.ts';

/**
 * The caller's mistake behind an error of the database; undefined when the caller did not cause it.
 * The message may name columns, and never contains values.
 */
export function toFailure(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  if (typeof error !== 'object' || error === null) return undefined;
  if (isLastOwner(error)) return failure.conflict(LAST_OWNER);
  return 'errcode' in error
    ? fromSqlite(error as SqliteError)
    : (endedByLimit(error) ?? fromPostgres(error as PostgresError));
}

interface SqliteError {
  readonly errcode: number;
  readonly message: string;
}

interface PostgresError {
  readonly code?: string;
  readonly detail?: string;
  readonly column?: string;
  readonly constraint?: string;
  readonly severity?: string;
  readonly message?: string;
}

/** Extended result codes, see https://sqlite.org/rescode.html */
const SQLITE = {
  check: 275,
  foreignKey: 787,
  notNull: 1299,
  primaryKey: 1555,
  unique: 2067,
  trigger: 1811,
} as const;

function fromSqlite({ errcode, message }: SqliteError): AppError | undefined {
  switch (errcode) {
    case SQLITE.unique:
    case SQLITE.primaryKey:
      return conflict([...columnsIn(message), ...identityIn(message)]);
    case SQLITE.foreignKey:
      return related();
    case SQLITE.trigger:
      // SQLite reports RESTRICT as a trigger too. A RAISE of another program's trigger has its own
      // text.
      return message === 'FOREIGN KEY constraint failed' ? related() : raised(message);
    case SQLITE.notNull:
      return required(columnsIn(message)[0]);
    case SQLITE.check:
      return refused('a value is not allowed');
    default:
      return undefined;
  }
}

/** `UNIQUE constraint failed: users.email, users.name` */
const columnsIn = (message: string) =>
  [...message.replace(/^[^:]*: /, '').matchAll(/\w+\.(\w+)/g)].map((match) => match[1] as string);

/** An error of an index over an expression names only the index: `users_email_identity_key`. */
const identityIn = (text: string) =>
  [...text.matchAll(/_(email|username|phone)_identity_key/g)].map((match) => match[1] as string);

/** Class 23 and 22, see PostgreSQL's appendix "Error Codes". */
function fromPostgres({
  code,
  detail,
  column,
  constraint,
  severity,
  message,
}: PostgresError): AppError | undefined {
  if (severity === undefined || code === undefined) return undefined;
  switch (code) {
    case '23505':
      return conflict(
        /\(([^)]*)\)=/.exec(detail ?? '')?.[1]?.split(', ') ?? identityIn(constraint ?? ''),
      );
    case '23503':
    case '23001':
      return related();
    case '23502':
      return required(column);
    case '23514':
      return refused('a value is not allowed', fieldOf(column));
    case '23P01':
      return refused('a row that this one excludes is there');
    case '22001':
      return refused('a value is too long', fieldOf(column));
    // RAISE EXCEPTION of a trigger or a function: its text is meant for the caller.
    case 'P0001':
      return raised(message ?? '');
    case '428C9':
      return refused('a column that the database fills cannot be set');
    case '22000':
    case '22023':
    case '2201E':
    case '22012':
    case '44000':
    case '22P02':
    case '22003':
    case '22007':
    case '22008':
    case '22021':
    // JSON with the character NUL, which jsonb cannot hold.
    case '22P05':
      return refused('a value is out of range or not of its type');
    default:
      return undefined;
  }
}

function conflict(columns: readonly string[]): AppError {
  const fields = columns.map(camel);
  return failure.conflict(
    fields.length > 0 ? `${fields.join(', ')} already exists` : 'already exists',
    { extensions: { fields } },
  );
}

/**
 * An error that the database itself raised. REST answers 422, because the caller's input has the
 * right form.
 */
export class DatabaseRefusal extends AppError {}

const refused = (message: string, options?: FailureOptions) =>
  new DatabaseRefusal(400, 'BAD_USER_INPUT', message, options);

/** The text of a RAISE, which is written for the caller. */
const raised = (text: string) => refused(text || 'the database refused the change');

const fieldOf = (column: string | undefined) =>
  column === undefined ? {} : { extensions: { field: camel(column) } };

const related = () =>
  failure.invalid('a related row does not exist, or is still in use', {
    extensions: { reason: 'RELATION' },
  });

const required = (column: string | undefined) =>
  failure.invalid(
    column ? `${camel(column)} is required` : 'a value is required',
    column === undefined ? {} : { extensions: { field: camel(column) } },
  );

const camel = (column: string) =>
  column.replaceAll('"', '').replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** A trigger of the database dropped a new row without an error. */
export class RowSwallowed extends AppError {
  constructor() {
    super(404, 'NOT_FOUND', 'the database did not keep the row');
  }
}
