import { buildSchema } from 'graphql';
import { attachScalars } from '../data/scalars/attach.ts';
import { NONE } from '../data/made-rows.ts';
import { indexModel } from '../data/model.ts';
import { hasHook } from '../data/row-hooks.ts';
import { hooksOf, startWriting } from '../data/writing.ts';
import type { Query, Store } from '../store/store.ts';
import type { Kernel } from '../module.ts';
import type { ScalarMapping } from '../plugin.ts';
import { checkRows } from './check-rows.ts';
import { readLedger } from './ledger.ts';
import { orderRows } from './order-rows.ts';
import { knownRows } from './read-targets.ts';
import type { SeedReport, SeedRow } from './seed-row.ts';
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
  const work = () =>
    inTransaction(store, async (query) => {
      const begun = startWriting({ model, store, now }, { rules: OPERATOR, caller: null }, query);
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
      });
      const ordered = orderRows(checked);
      if (findings.length + ordered.findings.length > 0)
        throw new SeedRefused([...findings, ...ordered.findings]);
      return { ...(await writeRows(writing, ordered, { ledger, progress })), findings: [] };
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

/** Hooks take part in the transaction; without them it needs no scope. */
const inTransaction = <T>(store: Store, work: (query: Query) => Promise<T>): Promise<T> =>
  hooksOf(store)
    ? store.transaction(() => work((text, values) => store.query(text, values)))
    : store.transact(work);
