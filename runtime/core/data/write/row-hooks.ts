import { AsyncLocalStorage } from 'node:async_hooks';
import type { WriteShape } from '@twofold/schema';
import { AppError, InternalError } from '../../errors.ts';
import { assertValid, inputErrors, type InputError } from './constraint.ts';
import { toFailure } from './database-failure.ts';
import { propertyOf, type EntityModel } from '../model.ts';
import { readRow } from './stored-row.ts';
import type { EntityHook, EntityHooks, HookOperation } from '../../context/entity-hooks.ts';
import type { HookParts, Key, Writing, WritingHooks } from './writing.ts';

type Input = Readonly<Record<string, unknown>>;
type Row = Readonly<Record<string, unknown>>;

const NAMES = [
  'resolveInput',
  'validate',
  'beforeOperation',
  'afterOperation',
  'afterCommit',
] as const;

type Functions = Readonly<Record<keyof EntityHooks, readonly EntityHook[]>>;

/** Functions that were looked up before, by the hooks of a server. */
const KNOWN = new WeakMap<HookParts['hooks'], Map<string, Functions>>();

/** The functions of each kind for an operation on an entity. */
function functionsOf({ hooks }: HookParts, entity: string, operation: HookOperation): Functions {
  const known = KNOWN.get(hooks) ?? new Map<string, Functions>();
  KNOWN.set(hooks, known);
  const key = `${operation} ${entity}`;
  const before = known.get(key);
  if (before) return before;
  const all = hooks.get(entity) ?? [];
  const functions = {
    resolveInput: functionsNamed(all, 'resolveInput', operation),
    validate: functionsNamed(all, 'validate', operation),
    beforeOperation: functionsNamed(all, 'beforeOperation', operation),
    afterOperation: functionsNamed(all, 'afterOperation', operation),
    afterCommit: functionsNamed(all, 'afterCommit', operation),
  };
  known.set(key, functions);
  return functions;
}

function functionsNamed(
  hooks: readonly EntityHooks[],
  name: keyof EntityHooks,
  operation: HookOperation,
): EntityHook[] {
  return hooks.flatMap((each) => {
    const hook = each[name];
    return (typeof hook === 'function' ? hook : hook?.[operation]) ?? [];
  });
}

/** Whether an operation on the entity has a hook of one kind. */
export const hasHook = (
  parts: HookParts,
  entity: string,
  name: keyof EntityHooks,
  operation: HookOperation,
): boolean => functionsOf(parts, entity, operation)[name].length > 0;

/** Whether an operation on the entity has hooks. This is the one place that decides it. */
export function isHooked(parts: HookParts, entity: string, operation: HookOperation): boolean {
  const functions = functionsOf(parts, entity, operation);
  return NAMES.some((name) => functions[name].length > 0);
}

/** Whether all hooks of the operation only complete its input. */
export function onlyResolves(parts: HookParts, entity: string, operation: HookOperation): boolean {
  const functions = functionsOf(parts, entity, operation);
  return NAMES.every((name) => name === 'resolveInput' || functions[name].length === 0);
}

/** The hooks of a row that is written; undefined when it has none. */
export function rowHooks(
  writing: Pick<Writing, 'hooks'>,
  entity: EntityModel,
  operation: HookOperation,
): RowHooks | undefined {
  const { hooks } = writing;
  return hooks && isHooked(hooks, entity.entity.name, operation)
    ? new RowHooks(hooks, entity, operation)
    : undefined;
}

/** The longest chain of hooks whose writes call each other. */
const CHAIN = 20;

/** A hook that runs, and those whose writes called it. */
interface Called {
  readonly above: Called | undefined;
  readonly depth: number;
  readonly hooks: RowHooks;
  readonly name: keyof EntityHooks;
}

const chain = new AsyncLocalStorage<Called>();

/** Runs the hooks of one row, in their order. */
export class RowHooks {
  readonly #hooks: WritingHooks;
  readonly #entity: EntityModel;
  readonly #operation: HookOperation;
  readonly #known: Functions;
  #input: Input = {};
  #item: Row | null = null;
  #resolved: Input | Promise<Input> | undefined;
  #shape: WriteShape | undefined;

  constructor(hooks: WritingHooks, entity: EntityModel, operation: HookOperation) {
    this.#known = functionsOf(hooks, entity.entity.name, operation);
    this.#hooks = hooks;
    this.#entity = entity;
    this.#operation = operation;
  }

  /** The input of `ctx.data` for the operation, which is also what hooks return. */
  get shape(): WriteShape {
    return (this.#shape ??= this.#hooks.shape(this.#entity.entity.name, this.#operation));
  }

  /** Reads the stored row. @returns whether it is there */
  async begin(writing: Writing, id: Key): Promise<boolean> {
    this.#item = (await readRow(this.#hooks, this.#entity, id, writing)) ?? null;
    return this.#item !== null;
  }

  /**
   * Completes an input. It is called once; it returns no promise when no hook does.
   *
   * @param preset columns that are set beside the input.
   * @returns what the hooks add, in the form of `ctx.data`.
   */
  resolve(input: Input, preset?: ReadonlyMap<string, unknown>): Input | Promise<Input> {
    return (this.#resolved ??= this.#resolveNow({ ...(preset && this.#named(preset)), ...input }));
  }

  #named(preset: ReadonlyMap<string, unknown>): Input {
    return Object.fromEntries(
      [...preset].map(([column, value]) => [
        propertyOf(this.#entity, this.#entity.column(column)),
        value,
      ]),
    );
  }

  #resolveNow(input: Input): Input | Promise<Input> {
    this.#input = input;
    const hooks = this.#functions('resolveInput');
    let added: Input = {};
    const add = (more: unknown) => {
      const given = defined(more);
      added = { ...added, ...given };
      this.#input = { ...this.#input, ...given };
    };
    const read = () =>
      Object.keys(added).length === 0 ? added : this.#hooks.read(this.shape, added);
    for (const [index, hook] of hooks.entries()) {
      const more = this.#call('resolveInput', hook, {});
      if (!isPromise(more)) add(more);
      else
        return more.then(async (first) => {
          add(first);
          for (const next of hooks.slice(index + 1))
            add(await this.#call('resolveInput', next, {}));
          return read();
        });
    }
    return read();
  }

  /**
   * Checks the completed input.
   *
   * @throws AppError `BAD_USER_INPUT` with all that is wrong.
   */
  async check(added: Input, missing: readonly InputError[] = []): Promise<void> {
    const limits =
      this.#operation === 'delete' ? [] : inputErrors(this.#hooks.model, this.shape, added);
    const errors: InputError[] = [...missing, ...limits];
    assertValid(errors);
    const addError = (field: string, message: string) => void errors.push({ field, message });
    for (const hook of this.#functions('validate'))
      await this.#call('validate', hook, { addError });
    assertValid(errors);
    for (const hook of this.#functions('beforeOperation'))
      await this.#call('beforeOperation', hook, {});
  }

  /** Runs the hooks that come after the statement. `id` is null when the row was deleted. */
  async after(writing: Writing, id: Key | null): Promise<void> {
    const [after, committed] = [this.#functions('afterOperation'), this.#functions('afterCommit')];
    if (after.length + committed.length === 0) return;
    const item = id === null ? null : await readRow(this.#hooks, this.#entity, id, writing);
    const rows = { item: item ?? null, originalItem: this.#item };
    for (const hook of after) await this.#call('afterOperation', hook, rows);
    for (const hook of committed) writing.committed.push(() => void this.#callLater(hook, rows));
  }

  async #callLater(hook: EntityHook, rows: object): Promise<void> {
    try {
      await this.#call('afterCommit', hook, rows);
    } catch (error) {
      const { log } = this.#hooks.caller;
      log.error({ stack: stackOf(error) }, `${this.place('afterCommit')} failed`);
    }
  }

  #functions(name: keyof EntityHooks): readonly EntityHook[] {
    return this.#known[name];
  }

  #call(name: keyof EntityHooks, hook: EntityHook, more: object): unknown {
    const above = chain.getStore();
    const called: Called = { above, depth: (above?.depth ?? 0) + 1, hooks: this, name };
    if (called.depth > CHAIN)
      throw new InternalError(
        `hooks call each other more than ${CHAIN} deep: ${placesOf(called, 4).join(' → ')}`,
      );
    const call = {
      operation: this.#operation,
      input: this.#input,
      item: this.#item,
      ctx: this.#hooks.caller,
      ...more,
    };
    try {
      const done = chain.run(called, hook, call);
      return isPromise(done)
        ? done.catch((error: unknown) => rethrowFrom(this.place(name), error))
        : done;
    } catch (error) {
      return rethrowFrom(this.place(name), error);
    }
  }

  /** The file and the function, for messages. */
  place(name: keyof EntityHooks): string {
    return `src/hooks/${this.#entity.entity.name}.ts ${name}.${this.#operation}`;
  }
}

const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof (value as Promise<unknown> | undefined)?.then === 'function';

/** The last hooks of a chain, the first of them first. */
const placesOf = ({ above, hooks, name }: Called, count: number): string[] => [
  ...(above && count > 1 ? placesOf(above, count - 1) : []),
  hooks.place(name),
];

const defined = (value: unknown): Input =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, each]) => each !== undefined));

/**
 * Rethrows errors for the caller and those of the database as they are. To others it adds which
 * hook threw them.
 */
function rethrowFrom(place: string, error: unknown): never {
  const known = error instanceof AppError || error instanceof InternalError || toFailure(error);
  const ofDatabase = typeof error === 'object' && error !== null && 'severity' in error;
  if (known || ofDatabase) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  throw new InternalError(`${place} failed: ${reason}`, { cause: error });
}

const stackOf = (error: unknown) => (error instanceof Error ? error.stack : String(error));
