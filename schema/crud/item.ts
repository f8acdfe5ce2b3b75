import type { EntityFact } from '../build/facts.ts';

/** One definition that `api.crud` or `@crud` can add: a type, or a field of an object type. */
export interface CrudItem {
  /** `PostFilter`, `Query.posts` */
  readonly name: string;
  /** The keyword of the definition. A field has the keyword of the type that it extends. */
  readonly keyword: 'type' | 'input' | 'enum' | 'scalar';
  /**
   * Whether the user may have an enum of this name in its place, because rows can be sorted by
   * either.
   */
  readonly orEnum?: true;
  /** The type that a field extends. */
  readonly owner?: string;
  /** Whether it is a mutation. */
  readonly writes?: true;
  /** The type for which it is added; absent for definitions that all types share. */
  readonly of?: Pick<EntityFact, 'name' | 'node'>;
  /** The definition, or the line of a field. */
  readonly text: string;
}

/** The signature of a field of a root type. */
export interface FieldLine {
  readonly name: string;
  readonly args: readonly string[];
  readonly type: string;
  readonly directive?: string;
}

/** @example block('input', 'CreateTagInput', ['name: String!']) // 'input CreateTagInput {\n  name: String!\n}' */
export function block(keyword: string, name: string, lines: readonly string[]): string {
  return `${keyword} ${name} {\n${lines.map((line) => `  ${line}`).join('\n')}\n}`;
}

const LONGEST_LINE = 100;

/**
 * The signature of a field; arguments that make it too long stand on lines of their own.
 *
 * @example signature('post', ['id: ID!'], 'Post') // 'post(id: ID!): Post'
 */
export function signature(name: string, args: readonly string[], type: string): string {
  const line = `${name}${args.length > 0 ? `(${args.join(', ')})` : ''}: ${type}`;
  if (line.length + 2 <= LONGEST_LINE) return line;
  return `${name}(\n${args.map((each) => `    ${each}`).join('\n')}\n  ): ${type}`;
}
