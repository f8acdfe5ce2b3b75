import { buildSchema } from 'graphql';
import {
  attachScalars,
  hasHook,
  hooksOf,
  indexModel,
  NONE,
  seedValuesOf,
  startWriting,
} from '@twofold/runtime/data';
import { AppError } from '@twofold/runtime/errors';
import type { Kernel, ScalarMapping } from '@twofold/runtime/kernel';
import type { Query, Store } from '@twofold/runtime/store';
import { checkRows } from './check-rows.ts';
import { readLedger } from './ledger.ts';
import { orderRows } from './order-rows.ts';
import { knownRows } from './read-targets.ts';
import type { CheckedRow, SeedFinding, SeedReport, SeedRow } from './seed-row.ts';
import { OPERATOR, type Progress, SeedRefused, writeRows } from './write-rows.ts';

export type { SeedFinding, SeedReport, SeedRow } from './seed-row.ts';

export interface SeedOptions {
  readonly kernel: Kernel;
  readonly scalars?: Readonly<Record<string, ScalarMapping>>;
  readonly progress?: Progress;
}

/**
 * Loads all rows in one transaction, or none and returns the findings. Loading the same rows again
 * changes nothing.
 *
 * @example await seedRows([{ type: 'User', key: 'ada', values: { name: 'Ada', email: 'ada@example.test' } }], { kernel });
 */
export async function seedRows(
  rows: readonly SeedRow[],
  { kernel, scalars = {}, progress = () => {} }: SeedOptions,
): Promise<SeedReport> {
  const { project, store, now } = kernel;
  const model = indexModel(project);
  const schema = buildSchema(project.sdl, { assumeValid: true, noLocation: true });
  attachScalars(schema, project, scalars);
  let committed: readonly (() => void)[] = [];
  const takes = (entity: string) => seedValuesOf(store, entity);
  const takers = new Set(rows.flatMap(({ type }) => takes(type) ?? []));
  for (const taker of takers) await taker.prepare();
  const work = () =>
    inTransaction(store, takers.size > 0, async (query) => {
      const begun = startWriting({ model, store, now }, { rules: OPERATOR }, query);
      const writing = { ...begun, made: NONE };
      committed = writing.committed;
      const ledger = await readLedger(writing);
      const earlier = new Map(
        [...ledger].map(([type, seeded]) => [
          type,
          new Map([...seeded].map(([key, { id }]) => [key, id])),
        ]),
      );
      const { checked, findings } = checkRows(rows, {
        model,
        schema,
        known: knownRows(rows, earlier),
        completes: (entity) => completesInput(store, entity),
        takes,
      });
      const ordered = orderRows(checked);
      const refused = [...findings, ...ordered.findings, ...(await untaken(store, checked))];
      if (refused.length > 0) throw new SeedRefused(refused);
      return { ...(await writeRows(writing, ordered, { ledger, progress, takes })), findings: [] };
    });
  try {
    const report = await store.lock('seed', work);
    committed.forEach((each) => each());
    return report;
  } catch (error) {
    if (error instanceof SeedRefused)
      return { inserted: 0, updated: 0, unchanged: 0, findings: error.findings };
    throw error;
  }
}

/** Whether the entity has a hook that completes the input of creates. */
function completesInput(store: Store, entity: string): boolean {
  const parts = hooksOf(store);
  return parts !== undefined && hasHook(parts, entity, 'resolveInput', 'create');
}

/** Findings about values that a capability takes. */
async function untaken(store: Store, rows: readonly CheckedRow[]): Promise<SeedFinding[]> {
  const findings: SeedFinding[] = [];
  for (const { index, type, taken, columns } of rows)
    try {
      if (Object.keys(taken).length > 0) await seedValuesOf(store, type)?.check(taken, columns);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const field = String(error.extensions['field']);
      findings.push({ row: index, field, message: error.message });
    }
  return findings;
}

/** With hooks or capabilities, other code takes part in the transaction, so it needs a scope. */
const inTransaction = <T>(
  store: Store,
  shared: boolean,
  work: (query: Query) => Promise<T>,
): Promise<T> =>
  shared || hooksOf(store)
    ? store.transaction(() => work((text, values) => store.query(text, values)))
    : store.transact(work);
