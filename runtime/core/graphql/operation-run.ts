import type { Engine } from './engine.ts';
import type { RequestContext } from '../context/request-context.ts';
import type { Rules } from '../data/access/access.ts';
import type { Judge } from '../data/write/row-judgement.ts';
import type { PreparedOperation } from './document-cache.ts';
import type { Plan, Planning } from './plan/planning.ts';
import type { OperationPlan } from './plan/operation.ts';
import type { Root } from '../data/plan.ts';
import type { Query } from '../store/store.ts';
import type { VariableValues, ExecutionResult } from 'graphql';
import type { JsonText } from '../store/large-text.ts';
import { readCalls, type WrittenKey } from './arguments.ts';
import type DataLoader from 'dataloader';
import type { NoteCut } from '../data/select/pages.ts';

/** One running operation. It is the executor's root value. */
export interface Run {
  readonly engine: Engine;
  readonly context: RequestContext;
  readonly rules: Rules;
  readonly operation: PreparedOperation;
  readonly planning: Planning;
  readonly plan: OperationPlan;
  readonly variables: VariableValues;
  /** Results of root fields, by their key in the answer. */
  readonly outcomes: Map<string, Outcome>;
  /** Fields of objects that user code returned, waiting to be read in one batch. */
  readonly batches: Map<string, DataLoader<any, any, any>>;
  /**
   * Checks of whether the caller may filter and order a field, by the filter and order they use.
   */
  readonly askable: Map<string, Promise<unknown>>;
  /** The lists of the answer that have more rows than the page that nobody asked for. */
  readonly cuts: Cut[];
  /** The most rows of a list inside an object that no size is asked for. */
  readonly nested?: number | undefined;
  /** The row of an event, for a subscription. */
  readonly event?: unknown;
  /** The query function of the transaction that the operation belongs to. */
  readonly query?: Query | undefined;
  /** Results of root fields, for several objects that lead to the same root field. */
  readonly shared?: Map<string, unknown>;
}

/** A run of the same operation, with other parts. A run has getters, which a spread would lose. */
export const runLike = (run: Run, changed: Partial<Run>): Run => ({
  engine: run.engine,
  context: run.context,
  rules: run.rules,
  operation: run.operation,
  planning: run.planning,
  plan: run.plan,
  variables: run.variables,
  batches: run.batches,
  askable: run.askable,
  cuts: run.cuts,
  nested: run.nested,
  outcomes: new Map(),
  ...changed,
});

/** A root field's result: `text` goes into the answer unchanged, the executor processes `tree`. */
export type Outcome =
  | { readonly text: JsonText | null }
  | { readonly tree: unknown }
  | { readonly error: unknown };

interface PlanReading {
  /** The key of the row or rows, when the plan reads known ones. */
  readonly key?: WrittenKey | undefined;
  /** The keys of the answer that lead to what is read. */
  readonly above?: readonly string[];
  readonly tree: boolean;
  /** The query function of the transaction that the read belongs to; that of the run if absent. */
  readonly query?: Query | undefined;
  readonly large?: boolean;
}

/** Reads what a plan of a run asks for. It is a promise unless the database answers synchronously. */
export function readPlan(
  run: Run,
  { node, calls }: Plan<Root>,
  { key, above = [], tree, query = run.query, large = false }: PlanReading,
): JsonText | null | Promise<JsonText | null> {
  const { engine, rules, context, cuts } = run;
  return engine.reader.read(node, readCalls(run, calls, key), {
    rules,
    asker: context,
    noteCut: noteCut(cuts, above),
    tree,
    query,
    large: large && query === undefined,
  }) as JsonText | null | Promise<JsonText | null>;
}

/** The caller of a run, as conditions on rows judge them. */
export function judgeOf({ engine: { model, store }, rules }: Run): Judge {
  const { dialect, query } = store;
  return { model, rules, dialect, query };
}

/** JSON text of the whole answer, or the result of the executor. */
export type Answer = { readonly text: JsonText } | { readonly result: ExecutionResult };

/** A list that has more rows than the answer shows, because nobody asked for a page of it. */
export interface Cut {
  /** The keys that lead to the list, without the places in the lists around it. */
  readonly path: readonly string[];
  /** The rows that the answer shows. */
  readonly size: number;
  /** How many lists of this path are cut. */
  lists: number;
}

/** Notes lists below the field with these keys. */
export const noteCut =
  (cuts: Cut[], above: readonly string[]): NoteCut =>
  (path, size) => {
    const whole = [...above, ...path];
    const id = whole.join();
    const known = cuts.find((cut) => cut.path.join() === id);
    if (known) known.lists += 1;
    else cuts.push({ path: whole, size, lists: 1 });
  };
