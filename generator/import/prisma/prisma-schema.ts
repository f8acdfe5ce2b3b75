/** The part of a Prisma schema that says what the database is like. */
export interface PrismaSchema {
  /** `postgresql`, `sqlite` …; null when the text has no datasource. */
  readonly provider: string | null;
  readonly models: readonly PrismaModel[];
  readonly enums: readonly PrismaEnum[];
  /** Composite types, which only document databases have. */
  readonly composites: readonly string[];
}

/** A `model` or a `view`. */
export interface PrismaModel {
  readonly name: string;
  readonly view: boolean;
  readonly description?: string;
  readonly fields: readonly PrismaField[];
  /** `@@map`, `@@id` … */
  readonly attributes: readonly PrismaAttribute[];
}

export interface PrismaField {
  readonly name: string;
  /** A scalar, an enum or a model; for `Unsupported("point")` the text in it. */
  readonly type: string;
  readonly unsupported: boolean;
  readonly list: boolean;
  readonly optional: boolean;
  readonly description?: string;
  readonly attributes: readonly PrismaAttribute[];
}

/** `@db.VarChar(200)` is the attribute `db.VarChar`. */
export interface PrismaAttribute {
  readonly name: string;
  readonly args: readonly PrismaArgument[];
}

/** `name` is null for an argument without one. */
export interface PrismaArgument {
  readonly name: string | null;
  readonly value: PrismaValue;
}

export type PrismaValue =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  /** The name of a field, an enum's value or a word such as `Cascade`. */
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'function'; readonly name: string; readonly args: readonly PrismaValue[] }
  | { readonly kind: 'list'; readonly values: readonly PrismaValue[] };

export interface PrismaEnum {
  readonly name: string;
  readonly description?: string;
  readonly values: readonly PrismaEnumValue[];
  readonly attributes: readonly PrismaAttribute[];
}

export interface PrismaEnumValue {
  readonly name: string;
  readonly description?: string;
  readonly attributes: readonly PrismaAttribute[];
}

interface HasAttributes {
  readonly attributes: readonly PrismaAttribute[];
}

export const attribute = ({ attributes }: HasAttributes, name: string) =>
  attributes.find((each) => each.name === name);

/**
 * An argument by its name, or the first one without a name when it is the attribute's main one.
 *
 * @example argument(attribute(model, 'map'), 'name')
 */
export function argument(
  of: PrismaAttribute | undefined,
  name: string,
  main = false,
): PrismaValue | undefined {
  const named = of?.args.find((each) => each.name === name);
  return (named ?? (main ? of?.args.find((each) => each.name === null) : undefined))?.value;
}

/** @example textOf({ kind: 'text', text: 'users' }) // 'users' */
export const textOf = (value: PrismaValue | undefined): string | undefined =>
  value && 'text' in value ? value.text : undefined;

/** The names of fields in a list. Items such as `createdAt(sort: Desc)` count too. */
export function fieldsOf(value: PrismaValue | undefined): readonly string[] {
  if (value?.kind !== 'list') return value ? [wordOf(value)].flatMap((name) => name ?? []) : [];
  return value.values.flatMap((each) => wordOf(each) ?? []);
}

const wordOf = (value: PrismaValue) => (value.kind === 'function' ? value.name : textOf(value));

/** The name in the database: of `@@map`, or the name in the schema. */
export const storedName = (of: HasAttributes & { readonly name: string }): string =>
  textOf(argument(attribute(of, 'map'), 'name', true)) ?? of.name;
