import type { Dialect, Query, Store } from '../../store/store.ts';
import type { Rules } from '../access/access.ts';
import type { Change } from '../changes/changes.ts';
import { madeRowsOf, type MadeRows } from './made-rows.ts';
import type { Model } from '../model.ts';
import type { EntityHooks, HookOperation } from '../../context/entity-hooks.ts';
import type { Reader } from '../reader.ts';
import type { WriteShape } from '@twofold/schema';
import type { RequestContext } from '../../context/request-context.ts';

/** One transaction of writes for one caller. */
export interface Writing {
  readonly model: Model;
  /** Those of the caller; they are others when the caller has made an organization. */
  rules: Rules;
  readonly dialect: Dialect;
  /** Runs a statement of the transaction. */
  readonly query: Query;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Callbacks that run after a row was created, in the same transaction. */
  readonly made: MadeRows;
  /** The request that writes; absent for seeds. */
  readonly request?: RequestContext | undefined;
  /** Changes to announce after the commit. */
  readonly changes: Change[];
  /** Absent when the project has no hooks. */
  readonly hooks?: WritingHooks;
  /** Called when everything is written, before the commit. A throw undoes all writes. */
  readonly checks: (() => Promise<void>)[];
  /** Reads rows before they are removed, to show them to subscribers; absent for seeds. */
  readonly removal?: Removal;
  /** Called after the commit, never after a rollback. */
  readonly committed: (() => void)[];
}

/** What is needed to tell subscribers about removed rows. */
export interface Removal {
  readonly reader: Reader;
  /** Whether a subscription shows removed rows of the entity. */
  watchesRemoval(entity: string): boolean;
}

/** What is needed to begin a transaction of writes: the caller, the model and the database. */
interface Beginning {
  readonly model: Model;
  readonly store: Store;
  readonly now: () => number;
  readonly reader?: Reader;
  readonly watchesRemoval?: Removal['watchesRemoval'];
}

interface Called {
  /** The request that writes; absent for seeds. */
  readonly context?: RequestContext | undefined;
}

/** A transaction of writes without changes so far. */
export function startWriting(
  { model, store, now, reader, watchesRemoval }: Beginning,
  { rules, context }: Pick<Writing, 'rules'> & Called,
  query: Query,
): Writing {
  const { dialect } = store;
  const parts = hooksOf(store);
  return {
    model: parts?.model ?? model,
    rules,
    dialect,
    query,
    now: now(),
    made: madeRowsOf(store),
    request: context,
    changes: [],
    checks: [],
    committed: [],
    ...(reader && watchesRemoval && { removal: { reader, watchesRemoval } }),
    ...(parts && { hooks: { ...parts, caller: context ?? parts.context() } }),
  };
}

/** Values by column, in the form that arguments have. */
export type Values = ReadonlyMap<string, unknown>;

/** Values that an input gives to a row. */
export interface Given {
  readonly values: Map<string, unknown>;
  /** Names of the input's fields, by column, for messages. */
  readonly names?: ReadonlyMap<string, string>;
}

export type Key = string;

/** A stored row, and the version of it that the caller has read, if they say one. */
export interface KnownRow<Id = Key> {
  readonly id: Id;
  readonly version?: unknown;
}

/** The parts of `Writing` that are known before the transaction begins. */
export type Writer = Pick<Writing, 'model' | 'rules' | 'dialect' | 'now'>;

type Input = Readonly<Record<string, unknown>>;

/** What the hooks of a server share. */
export interface HookParts {
  /** By the name of the entity: those of the project, then those of plugins. */
  readonly hooks: ReadonlyMap<string, readonly EntityHooks[]>;
  /** The model with an input for everything that an entity has, see `dataModel`. */
  readonly model: Model;
  readonly reader: Reader;
  /** The context of writes that no request makes. */
  context(): RequestContext;
  /** What `ctx.data` takes for an operation. */
  shape(entity: string, operation: HookOperation): WriteShape;
  /** Coerces what a hook returned. @throws AppError `BAD_USER_INPUT` */
  read(shape: WriteShape, input: Input): Input;
  /** Updates a row by an input of `ctx.data`. @returns whether the row exists */
  update(writing: Writing, shape: WriteShape, id: unknown, input: Input): Promise<boolean>;
}

/** The hooks of one transaction. */
export interface WritingHooks extends HookParts {
  readonly caller: RequestContext;
}

const BY_STORE = new WeakMap<Store, HookParts>();

/** Adds the hooks of a server, before it starts. */
export const registerHooks = (store: Store, parts: HookParts): void =>
  void BY_STORE.set(store, parts);

/** The hooks of a server; undefined when the project has none. */
export const hooksOf = (store: Store): HookParts | undefined => BY_STORE.get(store);
