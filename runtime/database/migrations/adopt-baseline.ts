import { AppError } from '@twofold/runtime/errors';
import {
  type Ledger,
  type Migration,
  noteApplied,
  prepareLedger,
  type Store,
} from '@twofold/runtime/store';
import { differences } from './baseline.ts';
import { catalogSource, readCatalog } from '../catalog/read-catalog.ts';
import { type Drift, tablesOf } from './drift.ts';
import { catalogAfter } from './scratch.ts';

/** The migration that `import db --managed` writes for the tables that exist already. */
const BASELINE = '0000_baseline';

/**
 * The pending baseline, if the database has its tables already and they are equal to it; undefined
 * when the baseline has to run.
 *
 * @throws AppError `MIGRATION_BASELINE_DIFFERS` with all differences; nothing ran.
 */
export async function presentBaseline(
  store: Store,
  waiting: readonly Migration[],
): Promise<Migration | undefined> {
  const baseline = waiting.find(({ name }) => name === BASELINE);
  if (!baseline) return undefined;
  const there = tablesOf(await readCatalog(catalogSource(store.db)));
  const made = new Set(tablesOf(await catalogAfter(store, [baseline])).map(({ name }) => name));
  if (!there.some(({ name }) => made.has(name))) return undefined;
  const drift = await differences(store, [baseline]);
  if (drift.length === 0) return baseline;
  throw differs(drift);
}

function differs(drift: readonly Drift[]): AppError {
  const lines = drift.slice(0, 5).map(({ object, kind, expected, found }) => {
    const facts = [
      ...(expected === null ? [] : [`expected ${expected}`]),
      ...(found === null ? [] : [`found ${found}`]),
    ];
    return `\n   ${object} is ${kind}: ${facts.join(', ')}`;
  });
  const more = drift.length > 5 ? `\n   and ${drift.length - 5} more` : '';
  return new AppError(
    409,
    'MIGRATION_BASELINE_DIFFERS',
    `the database is not what ${BASELINE} makes; nothing ran.${lines.join('')}${more}\n   fix  change the database to it, or delete the baseline and run: npm run generator -- import db --managed`,
    { extensions: { drift } },
  );
}

/** Records the baseline as applied. It cannot be undone, because the tables existed before it. */
export async function recordBaseline(
  store: Store,
  baseline: Migration,
  { applied }: Ledger,
): Promise<void> {
  if (applied.some(({ name }) => name === baseline.name)) return;
  await store.transaction(async (trx) => {
    await prepareLedger(trx);
    await noteApplied(trx, baseline, null);
  });
}
