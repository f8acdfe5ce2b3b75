import { valueFromASTUntyped, type ConstDirectiveNode } from 'graphql';

export type Arguments = ReadonlyMap<string, unknown>;

/** A node with directives: the definition of a type, an extension, or a field. */
export type Carrier = { readonly directives?: readonly ConstDirectiveNode[] | undefined };

/** A quick check for the usual case of no directives. */
export function isBare(carriers: readonly Carrier[]): boolean {
  return carriers.every(({ directives }) => !directives?.length);
}

/**
 * The uses of our directives on one type or field. Wrong values are ignored here: the rules report
 * them.
 */
export class Uses {
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

  /**
   * `{ [name]: value }`, or `{}` if the directive is absent, so that the property does not exist.
   */
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

export function text(args: Arguments, name: string): string | undefined {
  const value = args.get(name);
  return typeof value === 'string' ? value : undefined;
}

export function figure(args: Arguments, name: string): number | undefined {
  const value = args.get(name);
  return typeof value === 'number' ? value : undefined;
}

export function flag(args: Arguments, name: string): boolean | undefined {
  const value = args.get(name);
  return typeof value === 'boolean' ? value : undefined;
}

/** GraphQL coerces a single value to a list of one. */
export function texts(args: Arguments, name: string): string[] | undefined {
  const value = args.get(name);
  if (value === undefined || value === null) return undefined;
  return (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'string');
}

type Compact<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Removes undefined properties, as `exactOptionalPropertyTypes` requires. */
export function compact<T extends object>(value: T): Compact<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, item]) => item !== undefined),
  ) as Compact<T>;
}
