import { createHash } from 'node:crypto';
import { isEmail, isPhone, isUsername } from '@twofold/schema';
import type { Field } from '@twofold/schema';
import {
  assertConstraint,
  coerceValue,
  type EntityModel,
  givenValue,
  type Model,
} from '@twofold/runtime/data';
import { AppError } from '@twofold/runtime/errors';
import { readTargets } from './read-targets.ts';
import type { CheckedRow, Link, SeedFinding, SeedRow } from './seed-row.ts';
import type { Checking } from './checking.ts';

/**
 * Checks every row as a mutation checks its input: fields, types, required fields, `@constraint`.
 * It reports all findings at once.
 */
export function checkRows(
  rows: readonly SeedRow[],
  checking: Checking,
): { readonly checked: readonly CheckedRow[]; readonly findings: readonly SeedFinding[] } {
  const findings: SeedFinding[] = [];
  const counted = new Map<string, number>();
  const checked = rows.flatMap((row, index): CheckedRow[] => {
    const before = findings.length;
    const read = checkRow({ row, index }, checking, findings);
    return read === null || findings.length > before
      ? []
      : [{ ...read, identity: identityOf(row, read.hash, counted) }];
  });
  return { checked, findings };
}

/**
 * A text that recognises the row at the next run. Two equal rows of a list are two rows, so they
 * are counted.
 */
function identityOf({ type, key }: SeedRow, hash: string, counted: Map<string, number>): string {
  if (key !== null) return key;
  const nth = (counted.get(`${type}:${hash}`) ?? 0) + 1;
  counted.set(`${type}:${hash}`, nth);
  return `#${hash.slice(0, 24)}.${nth}`;
}

function checkRow(
  { row, index }: { row: SeedRow; index: number },
  checking: Checking,
  findings: SeedFinding[],
): Omit<CheckedRow, 'identity'> | null {
  const entity = checking.model.entities.get(row.type);
  if (!entity) {
    const known = [...checking.model.entities.keys()].join(', ');
    return (
      findings.push({
        row: index,
        message: `${row.type} is no type that is kept in a table`,
        fix: `one of ${known}`,
      }),
      null
    );
  }
  const columns: Record<string, unknown> = {};
  const links: Link[] = [];
  const taken: Record<string, string> = {};
  const takes = checking.takes(row.type);
  for (const [name, value] of Object.entries(row.values)) {
    const add = (message: string, fix?: string) =>
      findings.push({ row: index, field: name, message, ...(fix !== undefined && { fix }) });
    const field = fieldNamed(entity, name);
    if (!field && takes?.names.includes(name)) {
      if (typeof value === 'string') taken[name] = value;
      else add(`${name} has to be a text`);
    } else if (!field)
      add(
        `${row.type} has no field ${name}`,
        `one of ${[...entity.fields.values()]
          .filter(isWritable)
          .map((each) => each.name)
          .join(', ')}`,
      );
    else if (field.source.kind === 'one' || field.source.kind === 'many')
      readLink(field, value, { index, add, checking, links });
    else if (!isWritable(field))
      add(
        field.name === 'id'
          ? 'the database gives ids: refer to rows by their key'
          : `${row.type}.${name} is answered by a function of yours, and not kept`,
      );
    else readColumn(entity, field, value, { add, checking, columns });
  }
  // Hooks may set required fields. One that they leave out too is found when the row is written.
  const demanded = checking.completes(row.type) ? [] : missing(entity, row.values);
  for (const name of demanded)
    findings.push({ row: index, message: `${row.type}.${name} is required` });
  const digests = Object.entries(taken).map(([name, value]) => [name, takes?.digest(name, value)]);
  const hash = hashOf({ ...row.values, ...Object.fromEntries(digests) });
  return { index, type: row.type, hash, columns, links, taken };
}

/** The field with this name. `author` may also be given as its key `authorId`. */
function fieldNamed({ fields }: EntityModel, name: string): Field | undefined {
  const short = fields.get(name.replace(/Ids?$/, ''));
  return fields.get(name) ?? (short?.source.kind === 'one' ? short : undefined);
}

const isWritable = (field: Field) => field.source.kind !== 'custom' && field.name !== 'id';

interface Reading {
  readonly add: (message: string, fix?: string) => void;
  readonly checking: Checking;
}

function readColumn(
  { entity, columns: known }: EntityModel,
  field: Field,
  value: unknown,
  { add, checking: { schema, model }, columns }: Reading & { columns: Record<string, unknown> },
): void {
  const column = field.source.kind === 'column' ? known.get(field.source.column) : undefined;
  try {
    const coerced = coerceValue({ schema, scalar: givenValue }, field.type.text, value);
    if (column) assertConstraint(column.constraint, coerced, field.name);
    const problem = identityProblem(model, entity.name, column?.name, coerced);
    if (problem) return add(`${field.name} ${problem}`);
    columns[field.name] = coerced;
  } catch (error) {
    add(error instanceof AppError ? error.message : `${field.name} ${(error as Error).message}`);
  }
}

const IDENTITY = [
  ['email', isEmail, 'must be a valid email address'],
  ['username', isUsername, 'must be 3 to 32 letters, digits, dots, dashes or underscores'],
  ['phone', isPhone, 'must be 5 to 20 digits, spaces, dashes or parentheses'],
] as const;

/** Refuses an address that registration would refuse, because no user could sign in with it. */
function identityProblem(
  { project }: Model,
  entity: string,
  column: string | undefined,
  value: unknown,
): string | undefined {
  const user = project.auth?.user;
  if (user?.entity !== entity || typeof value !== 'string') return undefined;
  const known = IDENTITY.find(([attribute]) => column && user.columns[attribute] === column);
  return known && !known[1](value) ? known[2] : undefined;
}

function readLink(
  field: Field,
  value: unknown,
  { index, add, checking, links }: Reading & { index: number; links: Link[] },
): void {
  const { source } = field;
  if (source.kind !== 'one' && source.kind !== 'many') return;
  const many = source.kind === 'many';
  const own = source.kind === 'one' && source.key === 'own';
  if (own && source.typeColumn !== undefined)
    return add(
      `${field.name} can be one of several types, which a seed cannot say`,
      'set it with a mutation',
    );
  const { required } = field.type;
  if (many && !Array.isArray(value)) return add(`${field.name} is a list of keys`);
  if (!many && required && value === null) return add(`${field.name} is required`);
  const found = readTargets(source.entity, keysIn(value, many), checking);
  if ('problem' in found) return add(`${field.name}: ${found.problem}`, found.fix);
  const { targets } = found;
  if (!many && required && targets.some((target) => 'row' in target && target.row === index))
    return add(`${field.name} cannot be the row itself: it has to be there first`);
  links.push({ field: field.name, targets, many, own, required });
}

const keysIn = (value: unknown, many: boolean): readonly unknown[] =>
  many ? (value as unknown[]) : value === null ? [] : [value];

/** Required fields without a value in the row and without a default. */
function missing(entity: EntityModel, values: SeedRow['values']): string[] {
  const given = new Set(Object.keys(values).map((name) => fieldNamed(entity, name)?.name));
  const demanded = entity.entity.fields.filter((field) => {
    const name =
      field.source.kind === 'column' || (field.source.kind === 'one' && field.source.key === 'own')
        ? field.source.column
        : undefined;
    const column = name === undefined ? undefined : entity.columns.get(name);
    return (
      column !== undefined &&
      column.name !== 'id' &&
      column.required &&
      (column.default === undefined || column.default.kind === 'caller') &&
      !column.stamp
    );
  });
  return demanded.map(({ name }) => name).filter((name) => !given.has(name));
}

/** A hash that is independent of the order of the fields. */
function hashOf(values: SeedRow['values']): string {
  const sorted = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
}
