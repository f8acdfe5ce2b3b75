import { h, type VNode } from 'vue';
import type { Diagnostic } from '@twofold/schema';
import { EditorView } from './editor-view.ts';
import type { File, PlaygroundOutput } from './generate.ts';
import type { PlaygroundState } from './state.ts';

/** What the results do to the page. */
export interface ResultActions {
  readonly go: (at: Diagnostic['at']) => void;
  readonly choose: (file: string) => void;
  readonly dialect: (dialect: PlaygroundState['dialect']) => void;
  readonly save: () => void;
}

/** The findings, each with a button that leads to its place. */
export function findingsView({ findings }: PlaygroundOutput, { go }: ResultActions): VNode {
  if (findings.length === 0)
    return h('p', { class: 'play-empty' }, 'Nothing was found: the two files mean what they say.');
  return h(
    'ul',
    { class: 'play-findings' },
    findings.map((finding) => h('li', [findingHead(finding, go), ...findingLines(finding)])),
  );
}

const findingHead = ({ at, code, severity }: Diagnostic, go: ResultActions['go']) =>
  h('p', { class: 'play-finding-head' }, [
    h('span', { class: `play-severity ${severity}` }, severity),
    h('code', code),
    h(
      'button',
      { type: 'button', class: 'play-link', onClick: () => go({ ...at }) },
      `${at.file}:${at.line}:${at.column}`,
    ),
  ]);

const findingLines = ({ summary, why, fix }: Diagnostic): (VNode | null)[] => [
  h('p', summary),
  why ? h('p', { class: 'play-quiet' }, why) : null,
  fix ? h('pre', { tabindex: 0 }, fix) : null,
];

/** A list of files beside the chosen one. */
export function filesView(
  files: readonly File[],
  file: File | null,
  { choose }: ResultActions,
): VNode {
  return h('div', { class: 'play-split' }, [
    h('label', { class: 'play-choice' }, [
      h('span', 'File'),
      h(
        'select',
        {
          value: file?.file,
          onChange: (event: Event) => choose((event.target as HTMLSelectElement).value),
        },
        files.map(({ file: name }) => h('option', { value: name }, name)),
      ),
    ]),
    file && h(EditorView, { label: file.file, file: file.file, text: file.text }),
  ]);
}

const DIALECTS = [
  ['sqlite', 'SQLite'],
  ['postgres', 'PostgreSQL'],
] as const;

/** The statements that make all tables. */
export function sqlView(
  { sql }: PlaygroundOutput,
  { dialect }: PlaygroundState,
  actions: ResultActions,
): VNode {
  const options = DIALECTS.map(([key, text]) =>
    h('label', [
      h('input', {
        type: 'radio',
        name: 'dialect',
        value: key,
        checked: key === dialect,
        onChange: () => actions.dialect(key),
      }),
      text,
    ]),
  );
  return h('div', { class: 'play-split' }, [
    h('fieldset', { class: 'play-choice' }, [h('legend', 'Database'), ...options]),
    h(EditorView, { label: 'SQL of the tables', file: 'tables.sql', text: sql[dialect] }),
  ]);
}

/** The migration that the next run would write, below those that were saved here. */
export function migrationsView(
  { migration }: PlaygroundOutput,
  { migrations }: PlaygroundState,
  { save }: ResultActions,
): VNode {
  const about =
    migration === null
      ? 'The saved migrations make every table. Change the schema to see the next one.'
      : migrations.length === 0
        ? 'The first migration. Save it, then change the schema to see the next one.'
        : 'The next migration, from the tables that the saved ones make.';
  const shown = migration ?? migrations.at(-1);
  return h('div', { class: 'play-split' }, [
    h('div', { class: 'play-choice' }, [
      h('p', about),
      migration && h('button', { type: 'button', class: 'play-button', onClick: save }, 'Save it'),
    ]),
    shown && h(EditorView, { label: shown.file, file: shown.file, text: shown.text }),
  ]);
}
