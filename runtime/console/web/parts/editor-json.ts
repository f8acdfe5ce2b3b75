import { json, jsonParseLinter } from '@codemirror/lang-json';
import { linter } from '@codemirror/lint';
import type { Language } from './editor-types.ts';

/** An empty text is no error. */
const parse = jsonParseLinter();

export const jsonLanguage = (): Language => ({
  extension: [json(), linter((view) => (view.state.doc.length === 0 ? [] : parse(view)))],
});
