import { remembered } from '@twofold/schema';
import type { FragmentDefinitionNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';

/** An operation, and what its types and its constant are printed from. */
export interface Operation {
  readonly name: string;
  readonly kind: 'query' | 'mutation' | 'subscription';
  /** What is sent, and its SHA-256. */
  readonly text: string;
  readonly hash: string;
  readonly description: string | null;
  readonly node: OperationDefinitionNode;
  /** The fragments that it uses, directly or not, sorted by name. */
  readonly fragments: readonly Pick<Fragment, 'name'>[];
  /** Its text in code, if it is an argument of `graphql()`. */
  readonly inCode: string | null;
}

/** A fragment, and what its type is printed from. */
export interface Fragment {
  readonly name: string;
  readonly description: string | null;
  readonly node: FragmentDefinitionNode;
  /** The fragments that it uses, directly or not, by name. */
  readonly uses: readonly string[];
  /** Its text in code, if it is an argument of `graphql()`. */
  readonly inCode: string | null;
}

/** Everything that the files of one front end are printed from. */
export interface FrontEnd {
  readonly schema: GraphQLSchema;
  readonly operations: readonly Operation[];
  readonly fragments: readonly Fragment[];
  readonly format: 'string' | 'ast';
  readonly send: 'hash' | 'text' | 'hash-only';
  /** The TypeScript type that the JSON of a scalar has. */
  readonly scalars: Readonly<Record<string, JsonType>>;
  /** The ending in an import of a neighbouring file. */
  readonly ending: '' | '.ts' | '.js';
  readonly server: ServerPaths;
  /** The text of a module in `source/`, which is compiled and linted where it stands. */
  readonly source: (name: string) => string;
}

/** The JSON of a scalar in a variable and in an answer. */
export interface JsonType {
  readonly input: string;
  readonly output: string;
}

/** The URLs of the server, and how users sign in. */
export interface ServerPaths {
  readonly graphql: string;
  /** Null without `auth:`. */
  readonly delivery: 'body' | 'cookie' | null;
}

const byName = remembered(
  (fragments: readonly Fragment[]) => new Map(fragments.map((each) => [each.name, each])),
);

/** The fragment of a name. */
export const fragmentNamed = (
  { fragments }: Pick<FrontEnd, 'fragments'>,
  name: string,
): Fragment | undefined => byName(fragments).get(name);
