import { computed, reactive } from 'vue';
import type { Diagnostic } from '@twofold/schema';
import { type Example, examples } from './examples.ts';
import type { File, PlaygroundOutput } from './generate.ts';

/** What the page shows. */
export interface PlaygroundState {
  readonly example: string;
  /** The text of each of the two files. */
  readonly inputs: Readonly<Record<InputFile, string>>;
  readonly input: InputFile;
  /** Migrations that were saved here: the next one begins at the tables that they make. */
  readonly migrations: readonly File[];
  readonly output: PlaygroundOutput | null;
  /** Why the last run gave nothing. */
  readonly failure: string;
  readonly tab: ResultTab;
  readonly file: string;
  readonly dialect: 'sqlite' | 'postgres';
  /** The finding that was chosen. */
  readonly at: Diagnostic['at'] | null;
}

export type InputFile = 'schema.graphql' | 'manifest.yaml';
export type ResultTab = 'findings' | 'files' | 'sql' | 'migrations';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** The state of a page, beginning with the first example. */
export function createState() {
  const state = reactive<Writable<PlaygroundState>>({
    ...startOf(examples[0]!),
    output: null,
    failure: '',
    tab: 'files',
    file: 'src/generated/resolvers.ts',
    dialect: 'sqlite',
  }) as Writable<PlaygroundState>;
  const file = computed(
    () =>
      state.output?.files.find((each) => each.file === state.file) ??
      state.output?.files[0] ??
      null,
  );
  return { state, file };
}

/** What an example sets. */
export const startOf = ({ name, schema, manifest }: Example) => ({
  example: name,
  inputs: { 'schema.graphql': schema, 'manifest.yaml': manifest },
  input: 'schema.graphql' as InputFile,
  migrations: [],
  at: null,
});
