import { type Diagnostic, linter } from '@codemirror/lint';
import type { EditorState } from '@codemirror/state';
import { graphql, updateSchema } from 'cm6-graphql';
import { buildSchema, type GraphQLSchema } from 'graphql';
import type { Language } from './editor-types.ts';

/** A text that was not begun is not wrong. */
const whenBegun = (found: readonly Diagnostic[], { doc }: EditorState): Diagnostic[] =>
  doc.toString().trim() === '' ? [] : [...found];
const unlessBlank = linter(null, { markerFilter: whenBegun, tooltipFilter: whenBegun });

export const graphqlLanguage = (): Language => ({
  extension: [graphql(undefined, { showErrorOnInvalidSchema: false }), unlessBlank],
  // The types of cm6-graphql are those of CodeMirror's CommonJS build.
  setSchema: (view, sdl) =>
    updateSchema(view as never, sdl === undefined ? undefined : schemaOf(sdl)),
});

let last: { readonly sdl: string; readonly schema: GraphQLSchema | undefined } | undefined;

/** The schema of an SDL; undefined for one that cannot be read. It is built once. */
export function schemaOf(sdl: string): GraphQLSchema | undefined {
  if (last?.sdl !== sdl) last = { sdl, schema: built(sdl) };
  return last.schema;
}

function built(sdl: string): GraphQLSchema | undefined {
  try {
    return buildSchema(sdl, { assumeValid: true, noLocation: true });
  } catch {
    return undefined;
  }
}
