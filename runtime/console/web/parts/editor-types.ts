import type { Extension } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';

export type EditorLanguage = 'graphql' | 'json' | 'sql';

/** A place of a text, counted from 1 as GraphQL does, and what is wrong there. */
export interface EditorProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface EditorOptions {
  readonly label: string;
  readonly language: EditorLanguage;
  readonly value: string;
  readonly placeholder: string;
  readonly readOnly: boolean;
  change(text: string): void;
  at(offset: number): void;
  run(): void;
}

export interface EditorHandle {
  set(text: string): void;
  mark(marks: readonly EditorProblem[]): void;
  /** Gives the SDL of the schema to the language. */
  setSchema(schema: string | undefined): Promise<void>;
  close(): void;
}

/** A language of the editor. */
export interface Language {
  readonly extension: Extension;
  setSchema?(view: EditorView, schema: string | undefined): void;
}
