export type HookOperation = 'create' | 'update' | 'delete';

/** A function of the project. The emitted types are narrower. */
export type EntityHook = (call: any) => unknown;

/** One function for all operations, or one for each. */
export type EntityHookOf = EntityHook | Readonly<Partial<Record<HookOperation, EntityHook>>>;

/** The lifecycle hooks of an entity, in the order in which they run. */
export interface EntityHooks {
  /** What it returns is merged over the input. */
  readonly resolveInput?: EntityHookOf;
  /** Calls `addError(field, message)` for what is wrong. */
  readonly validate?: EntityHookOf;
  /** Runs before the statement. */
  readonly beforeOperation?: EntityHookOf;
  /** Runs after the statement, in its transaction: a throw undoes everything. */
  readonly afterOperation?: EntityHookOf;
  /** Runs after the outermost commit. */
  readonly afterCommit?: EntityHookOf;
}
