import { lookUp } from '@twofold/schema';
import { AppError } from '@twofold/runtime/errors';
import { hashOf, isDraft, type Ledger, type Migration, ownerOf } from '@twofold/runtime/store';

/** Names of migrations by their state in the ledger and the folder, oldest first. */
export interface LedgerState {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** The draft that the generator writes again: it is applied or pending as well. */
  readonly draft: readonly string[];
  /** New migrations whose `up` is still empty, so that there is nothing to apply. */
  readonly empty: readonly string[];
  /** Applied, but the file's text has changed since. */
  readonly changed: readonly string[];
  /** Applied, but the file is missing. */
  readonly missing: readonly string[];
  /** Stopped before their last step; the next run goes on from there. */
  readonly partial: readonly string[];
  /** Applied migrations of the project that the ledger cannot undo. */
  readonly oneWay: readonly string[];
}

export const EMPTY_STATE: LedgerState = {
  applied: [],
  pending: [],
  draft: [],
  empty: [],
  changed: [],
  missing: [],
  partial: [],
  oneWay: [],
};

/** Only names of the same owner are compared; a project may have no migration left. */
export function compareLedger(ledger: Ledger, migrations: readonly Migration[]): LedgerState {
  const owners = new Set(
    migrations.length > 0 ? migrations.map(({ name }) => ownerOf(name)) : [''],
  );
  const files = new Map(migrations.map((each) => [each.name, each]));
  const rows = ledger.applied.filter(({ name }) => owners.has(ownerOf(name)));
  const applied = new Set(rows.map(({ name }) => name));
  const partial = rows.filter(({ steps }) => steps !== null).map(({ name }) => name);
  const present = rows.filter(({ name }) => files.has(name) && !partial.includes(name));
  const isSame = ({ name, hash }: (typeof rows)[number]) => hash === hashOf(lookUp(files, name));
  const waiting = migrations.filter(({ name, unused }) => !unused && !applied.has(name));
  // A squashed migration is recorded in place of these when its turn comes.
  const replaced = new Set(waiting.flatMap(({ replaces = [] }) => replaces));
  return {
    applied: names(present.filter(isSame)),
    pending: names(waiting.filter((each) => !isEmpty(each))),
    draft: names(migrations.filter(isDraft)),
    empty: names(waiting.filter(isEmpty)),
    changed: names(present.filter((each) => !isSame(each))),
    missing: names(rows.filter(({ name }) => !files.has(name) && !replaced.has(name))),
    partial,
    oneWay: names(rows.filter((row) => ownerOf(row.name) === '' && row.undo === null)),
  };
}

function names(list: readonly { readonly name: string }[]): string[] {
  return list.map(({ name }) => name).sort();
}

/**
 * Whether `up` contains only comments. Such a migration is not recorded as applied, because it
 * could then not be written any more.
 */
function isEmpty({ up, text }: Migration): boolean {
  const body = up.toString().replace(/\/\*[^]*?\*\/|\/\/[^\n]*/g, '');
  return text !== undefined && /\)\s*(=>)?\s*\{\s*\}$/.test(body);
}

/** @throws AppError `MIGRATION_CHANGED` or `MIGRATION_MISSING`, naming each file and the remedy. */
export function assertSound(state: LedgerState): LedgerState {
  const { changed, missing } = state;
  if (changed.length > 0)
    throw new AppError(
      500,
      'MIGRATION_CHANGED',
      `${listed(changed)} ${changed.length === 1 ? 'was' : 'were'} changed after ${changed.length === 1 ? 'it was' : 'they were'} applied; nothing was done.\n   fix  restore the old text (git log -p -- migrations shows it) and put the change into a new migration; or, where the rows may go, undo it and apply the new text: npm run migrate -- down ${changed[0]}`,
      { extensions: { migrations: changed } },
    );
  if (missing.length > 0)
    throw new AppError(
      500,
      'MIGRATION_MISSING',
      `${listed(missing)} ${missing.length === 1 ? 'is' : 'are'} applied in the database, and there ${missing.length === 1 ? 'is no such file' : 'are no such files'} in migrations/; nothing was done.\n   fix  go back to the branch or commit that has ${missing.length === 1 ? 'it' : 'them'} (git log --all -- 'migrations/${missing.at(-1)}*' names it); or undo what it made: npm run migrate -- down ${missing[0]}`,
      { extensions: { migrations: missing } },
    );
  return state;
}

function listed(list: readonly string[]): string {
  return `migration${list.length === 1 ? '' : 's'} ${list.join(', ')}`;
}
