/** A document with the types of its variables and its data. 'String(document)' is its text. */
export interface TypedDocument<Data, Variables> {
  readonly name: string;
  /** The SHA-256 of its text. */
  readonly hash: string;
  toString(): string;
  /** Carries the types; it is never there. */
  readonly __apiType?: (variables: Variables) => Data;
}

export function document<Data, Variables>(
  name: string,
  hash: string,
  ...parts: readonly string[]
): TypedDocument<Data, Variables> {
  return { name, hash, toString: () => parts.join('\n\n') };
}

export const nameOf = ({ name }: { readonly name: string }): string => name;
export const hashIn = ({ hash }: { readonly hash: string }): string => hash;
export const textOf = (document: { toString(): string }): string => String(document);
