import { FILLED_COLUMNS, snakeCase } from '@twofold/schema';
import type { Importing, TypeInProgress } from '../database/types.ts';
import { CommandError } from '../../failure.ts';
import type { ImportedField } from '../imported.ts';

/** Usual names of the tables of those who sign in. */
const USUAL = /^(users?|accounts?)$/i;

/**
 * The type whose rows sign in: that of the table that is named, else of the only one that looks
 * like it. Undefined where the server keeps accounts of its own.
 *
 * @throws CommandError `USER_UNFIT` when the table that is named cannot be it
 */
export function userType(
  { types }: Importing,
  named: string | undefined,
): TypeInProgress | undefined {
  const all = [...types.values()];
  if (named === undefined) {
    const usual = all.filter((type) => USUAL.test(type.table.name) && unfit(type) === undefined);
    return usual.length === 1 ? usual[0] : undefined;
  }
  const found = all.find(
    ({ table }) => table.name === named || `${table.schema}.${table.name}` === named,
  );
  const why = found ? unfit(found) : `Hasura tracks no table ${named}`;
  if (why === undefined) return found;
  throw new CommandError('USER_UNFIT', {
    message: why,
    fix: '--user names the table whose rows sign in; without it the server keeps accounts of its own',
  });
}

function unfit({ table, view, fields }: TypeInProgress): string | undefined {
  const email = fields.find(({ name, closed }) => name === 'email' && closed === undefined);
  if (view || !fields.some(({ name, type }) => name === 'id' && type === 'ID!'))
    return `${table.name} has no key of one column`;
  return email && /^String!?$/.test(email.type)
    ? undefined
    : `${table.name} has no column email with text, and people sign in with it`;
}

/** Whether a new account can have a value of the field. */
export function registrable(
  { name, directives }: ImportedField,
  { table, columns }: TypeInProgress,
) {
  if (name === 'id' || FILLED_COLUMNS.has(snakeCase(name))) return true;
  if (directives.some((each) => each.startsWith('@default'))) return true;
  const column = [...columns].find(([, field]) => field === name)?.[0];
  return (
    column === undefined || table.columns.some((each) => each.name === column && each.nullable)
  );
}
