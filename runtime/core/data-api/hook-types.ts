import type { ChangeOf, DataInput, EntityShape, RelationsInput, UpdateInput } from './types.ts';

type Operation = 'create' | 'update' | 'delete';

/** What a project gives to the types of its hooks. */
export interface HookShape {
  readonly shape: EntityShape;
  readonly context: unknown;
  /** Fields that every create sets. */
  readonly given: PropertyKey;
  /** Required fields that a create may leave out, because a hook sets them. */
  readonly demanded: PropertyKey;
  /** Members of an input that only hooks may set: `@computed`. */
  readonly extra: object;
}

type Row<H extends HookShape> = H['shape']['row'];

/** The input of a hook: the caller's values, and those that earlier hooks added. */
type InputOf<H extends HookShape, Of extends Operation> = {
  readonly [Name in keyof Row<H>]?:
    | Row<H>[Name]
    | (Of extends 'update' ? ChangeOf<H['shape'], Name> : never)
    | undefined;
} & RelationsInput<H['shape']> &
  (Of extends 'create' ? Pick<Row<H>, Extract<H['given'], keyof Row<H>>> : unknown) &
  Partial<H['extra']>;

/** The parameters of every hook. */
export interface HookCall<H extends HookShape, Of extends Operation> {
  readonly operation: Of;
  readonly input: InputOf<H, Of>;
  /** The stored row; null when it is created. */
  readonly item: Of extends 'create' ? null : Row<H>;
  readonly ctx: H['context'];
}

/** The parameters of a hook that runs after the statement. */
export interface AfterCall<H extends HookShape, Of extends Operation> extends Omit<
  HookCall<H, Of>,
  'item'
> {
  /** The stored row; null when it was deleted. */
  readonly item: Of extends 'delete' ? null : Row<H>;
  /** The row before the change; null when the change created it. */
  readonly originalItem: Of extends 'create' ? null : Row<H>;
}

interface Validation {
  /** Reports a problem with a field. The write is refused with all problems together. */
  readonly addError: (field: string, message: string) => void;
}

type Later<T> = T | Promise<T>;
type Nothing = void | undefined | null;

/**
 * The result of a hook that completes an input. For a create, it must contain the required fields
 * that the caller may leave out.
 */
type Completed<H extends HookShape, Of extends Operation> = Of extends 'create'
  ? [H['demanded']] extends [never]
    ? DataInput<H['shape']> | Nothing
    : DataInput<H['shape']> & Pick<Row<H>, Extract<H['demanded'], keyof Row<H>>>
  : UpdateInput<H['shape']> | Nothing;

type Each<Call extends { readonly [Of in Operation]: unknown }, Of extends Operation, Result> =
  | ((call: Call[Of]) => Later<Result>)
  | { readonly [Name in Of]?: (call: Call[Name]) => Later<Result> };

type Calls<H extends HookShape, More = unknown> = {
  readonly [Of in Operation]: HookCall<H, Of> & More;
};
type AfterCalls<H extends HookShape> = { readonly [Of in Operation]: AfterCall<H, Of> };

/**
 * The hooks of an entity, in the order in which they run. Each is one function, or one for each of
 * `create`, `update` and `delete`.
 */
export interface HooksOf<H extends HookShape> {
  /** The returned fields are merged over the input; undefined leaves a field as it is. */
  readonly resolveInput?:
    | ((call: Calls<H>['create'] | Calls<H>['update']) => Later<Completed<H, 'create'>>)
    | {
        readonly create?: (call: Calls<H>['create']) => Later<Completed<H, 'create'>>;
        readonly update?: (call: Calls<H>['update']) => Later<Completed<H, 'update'>>;
      };
  readonly validate?: Each<Calls<H, Validation>, Operation, unknown>;
  /** Runs before the statement; a throw prevents it. */
  readonly beforeOperation?: Each<Calls<H>, Operation, unknown>;
  /** Runs after the statement, in its transaction: a throw undoes everything. */
  readonly afterOperation?: Each<AfterCalls<H>, Operation, unknown>;
  /** Runs once, after the outermost commit. An error is logged and does not change the answer. */
  readonly afterCommit?: Each<AfterCalls<H>, Operation, unknown>;
}
