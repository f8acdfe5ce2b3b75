import { valueFromASTUntyped } from 'graphql';
import type { ASTNode, ConstDirectiveNode } from 'graphql';
import type { Allow, Constraint, OnDelete, Verb } from '../model.ts';

/** `@entity` and its companions on a type, read leniently: whether the values are right is for the rules to say. */
export interface TypeDirectives {
  readonly entity?: {
    readonly table?: string;
    readonly plural?: string;
    readonly persist: boolean;
    readonly timestamps?: boolean;
    readonly softDelete: boolean;
    readonly node: ASTNode;
  };
  readonly indexes: readonly {
    readonly fields: readonly string[];
    readonly unique: boolean;
    readonly node: ASTNode;
  }[];
  readonly auth: readonly AuthUse[];
  readonly renamed?: string;
}

/** What the directives on a field say. */
export interface FieldDirectives {
  readonly computed: boolean;
  readonly relation?: {
    readonly inverse?: string;
    readonly column?: string;
    readonly table?: string;
    readonly onDelete?: OnDelete;
    readonly node: ASTNode;
  };
  readonly unique: boolean;
  readonly default?: { readonly value?: unknown; readonly expr?: string; readonly node: ASTNode };
  readonly updatedAt: boolean;
  readonly constraint?: Constraint;
  readonly auth: readonly AuthUse[];
  readonly list?: {
    readonly filter?: readonly string[];
    readonly orderBy?: readonly string[];
    readonly default?: number;
    readonly max?: number;
    readonly node: ASTNode;
  };
  readonly resolve?: {
    readonly as: string;
    readonly by?: readonly string[];
    readonly of?: string;
    readonly node: ASTNode;
  };
  readonly renamed?: string;
}

export interface AuthUse {
  readonly allow: readonly Allow[];
  readonly roles: readonly string[];
  readonly owner?: string;
  readonly on: readonly Verb[];
  readonly node: ConstDirectiveNode;
}

type Arguments = ReadonlyMap<string, unknown>;

/** Something that carries directives: the definition of a type and its extensions, or one field. */
export type Carrier = { readonly directives?: readonly ConstDirectiveNode[] | undefined };

/**
 * What the directives on a type say.
 *
 * @example
 * readTypeDirectives([node]).entity?.plural // 'people'
 */
export function readTypeDirectives(carriers: readonly Carrier[]): TypeDirectives {
  if (carriers.every(({ directives }) => !directives?.length)) return NO_TYPE_DIRECTIVES;
  const uses = new Uses(carriers);
  return {
    ...uses.one('entity', (args, node) => ({
      ...compact({
        table: text(args, 'table'),
        plural: text(args, 'plural'),
        timestamps: flag(args, 'timestamps'),
      }),
      persist: flag(args, 'persist') ?? true,
      softDelete: flag(args, 'softDelete') ?? false,
      node,
    })),
    indexes: uses.all('index', (args, node) => ({
      fields: texts(args, 'fields') ?? [],
      unique: flag(args, 'unique') ?? false,
      node,
    })),
    auth: uses.all('auth', authUse),
    ...uses.one('renamed', (args) => text(args, 'from')),
  };
}

/** What the directives on a field say. */
export function readFieldDirectives(carriers: readonly Carrier[]): FieldDirectives {
  if (carriers.every(({ directives }) => !directives?.length)) return NO_FIELD_DIRECTIVES;
  const uses = new Uses(carriers);
  return {
    computed: uses.has('computed'),
    ...uses.one('relation', (args, node) => ({
      ...compact({
        inverse: text(args, 'inverse'),
        column: text(args, 'column'),
        table: text(args, 'table'),
        onDelete: onDelete(args),
      }),
      node,
    })),
    unique: uses.has('unique'),
    ...uses.one('default', (args, node) => ({
      ...compact({ value: args.get('value'), expr: text(args, 'expr') }),
      node,
    })),
    updatedAt: uses.has('updatedAt'),
    ...uses.one('constraint', constraint),
    auth: uses.all('auth', authUse),
    ...uses.one('list', (args, node) => ({
      ...compact({
        filter: texts(args, 'filter'),
        orderBy: texts(args, 'orderBy'),
        default: figure(args, 'default'),
        max: figure(args, 'max'),
      }),
      node,
    })),
    ...uses.one('resolve', (args, node) => ({
      as: text(args, 'as') ?? 'CUSTOM',
      ...compact({ by: texts(args, 'by'), of: text(args, 'of') }),
      node,
    })),
    ...uses.one('renamed', (args) => text(args, 'from')),
  };
}

/** Most types and fields have none. */
const NO_TYPE_DIRECTIVES: TypeDirectives = { indexes: [], auth: [] };
const NO_FIELD_DIRECTIVES: FieldDirectives = {
  computed: false,
  unique: false,
  updatedAt: false,
  auth: [],
};

class Uses {
  readonly #nodes: readonly ConstDirectiveNode[];

  constructor(carriers: readonly Carrier[]) {
    this.#nodes = carriers.flatMap((carrier) => carrier.directives ?? []);
  }

  has(name: string): boolean {
    return this.#nodes.some((node) => node.name.value === name);
  }

  all<T>(name: string, read: (args: Arguments, node: ConstDirectiveNode) => T): T[] {
    return this.#nodes
      .filter((node) => node.name.value === name)
      .map((node) => read(argumentsOf(node), node));
  }

  /** `{ [name]: value }`, or nothing at all: absent properties stay absent. */
  one<N extends string, T>(
    name: N,
    read: (args: Arguments, node: ConstDirectiveNode) => T | undefined,
  ): { readonly [K in N]?: NonNullable<T> } {
    const value = this.all(name, read)[0];
    return (value === undefined ? {} : { [name]: value }) as { readonly [K in N]?: NonNullable<T> };
  }
}

function argumentsOf(node: ConstDirectiveNode): Arguments {
  return new Map(
    (node.arguments ?? []).map((argument) => [
      argument.name.value,
      valueFromASTUntyped(argument.value),
    ]),
  );
}

function authUse(args: Arguments, node: ConstDirectiveNode): AuthUse {
  return {
    allow: (texts(args, 'allow') ?? []) as Allow[],
    roles: texts(args, 'roles') ?? [],
    ...compact({ owner: text(args, 'owner') }),
    on: (texts(args, 'on') ?? ['READ', 'CREATE', 'UPDATE', 'DELETE']) as Verb[],
    node,
  };
}

function constraint(args: Arguments): Constraint {
  return compact({
    min: figure(args, 'min'),
    max: figure(args, 'max'),
    minLength: figure(args, 'minLength'),
    maxLength: figure(args, 'maxLength'),
    pattern: text(args, 'pattern'),
    format: text(args, 'format'),
  });
}

function onDelete(args: Arguments): OnDelete | undefined {
  const word = text(args, 'onDelete')?.toLowerCase().replace('_', ' ');
  return word === 'cascade' || word === 'restrict' || word === 'set null' ? word : undefined;
}

function text(args: Arguments, name: string): string | undefined {
  const value = args.get(name);
  return typeof value === 'string' ? value : undefined;
}

function figure(args: Arguments, name: string): number | undefined {
  const value = args.get(name);
  return typeof value === 'number' ? value : undefined;
}

function flag(args: Arguments, name: string): boolean | undefined {
  const value = args.get(name);
  return typeof value === 'boolean' ? value : undefined;
}

/** GraphQL reads a single value where a list is wanted as a list of one. */
function texts(args: Arguments, name: string): string[] | undefined {
  const value = args.get(name);
  if (value === undefined || value === null) return undefined;
  return (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'string');
}

type Compact<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the properties that are undefined, as `exactOptionalPropertyTypes` wants it. */
export function compact<T extends object>(value: T): Compact<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, item]) => item !== undefined),
  ) as Compact<T>;
}
