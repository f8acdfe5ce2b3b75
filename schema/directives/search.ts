import type { ConstDirectiveNode } from 'graphql';
import { type Arguments, compact, text, texts } from './arguments.ts';

/** The directive of full-text search. */
export const searchDirectives = `"""
On a type: its rows are found by the words in these fields. Hits in earlier fields count more.
On a field: how well the row fits the search, or the text around the hits. No column; null outside a search.

    type Post @search(fields: ["title", "body"], language: "english") {
      id: ID! title: String! body: String
      rank: Float @search(as: RANK)   excerpt: String @search(as: HIGHLIGHT, of: "body")
    }
    type Query { posts(search: String): [Post!]! }
"""
directive @search(
  "On a type: the fields whose words are found."
  fields: [String!]
  "On a type: the language whose endings do not count, such as english. Words are compared as they are when absent."
  language: String
  "On a field: what it shows."
  as: TwofoldSearch
  "With HIGHLIGHT: the field whose text it shows. One of fields."
  of: String
) on OBJECT | FIELD_DEFINITION
`;

/** The type of the argument `as`. */
export const searchTypes = `"What a field shows of a search."
enum TwofoldSearch {
  RANK
  HIGHLIGHT
}
`;

/** `@search` on a type or on a field. */
export interface SearchUse {
  readonly fields?: readonly string[];
  readonly language?: string;
  readonly as?: string;
  readonly of?: string;
  readonly node: ConstDirectiveNode;
}

/** The values of `@search`. */
export function search(args: Arguments, node: ConstDirectiveNode): SearchUse {
  return {
    ...compact({
      fields: texts(args, 'fields'),
      language: text(args, 'language'),
      as: text(args, 'as'),
      of: text(args, 'of'),
    }),
    node,
  };
}
