import { defineComponent, h, onBeforeUnmount, onMounted, toRaw, type VNode, watch } from 'vue';
import './playground.css';
import { EditorView } from './editor-view.ts';
import { examples } from './examples.ts';
import { filesView, findingsView, migrationsView, type ResultActions, sqlView } from './results.ts';
import { createRunner, type Runner } from './runner.ts';
import { createState, type InputFile, type ResultTab, startOf } from './state.ts';
import { type Tab, Tabs } from './tabs.ts';

/** Milliseconds without a keystroke after which the generator runs. */
const PAUSE = 120;

const INPUTS: readonly Tab[] = [
  { key: 'schema.graphql', text: 'schema.graphql' },
  { key: 'manifest.yaml', text: 'manifest.yaml' },
];

/** The generator in the browser: the two files at the left, what they mean at the right. */
export default defineComponent({
  setup() {
    const { state, file } = createState();
    let runner: Runner | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = () =>
      runner?.run({
        schema: state.inputs['schema.graphql'],
        manifest: state.inputs['manifest.yaml'],
        migrations: state.migrations.map((each) => ({ ...toRaw(each) })),
      });
    onMounted(() => {
      runner = createRunner({
        done: (output) => Object.assign(state, { output, failure: '' }),
        failed: (failure) => Object.assign(state, { failure }),
      });
      run();
    });
    onBeforeUnmount(() => (clearTimeout(timer), runner?.close()));
    watch(
      () => [state.inputs, state.migrations],
      () => {
        clearTimeout(timer);
        timer = setTimeout(run, PAUSE);
      },
    );
    const actions: ResultActions = {
      go: (at) => Object.assign(state, { input: at.file, at }),
      choose: (name) => void (state.file = name),
      dialect: (dialect) => void (state.dialect = dialect),
      save: () => {
        const { migration } = state.output ?? {};
        if (migration) state.migrations = [...state.migrations, { ...migration }];
      },
    };
    return () =>
      h('div', { class: 'play' }, [inputSide(state), resultSide(state, file.value, actions)]);
  },
});

type State = ReturnType<typeof createState>['state'];

function inputSide(state: State): VNode {
  const label = h('label', { class: 'play-example' }, [
    h('span', { class: 'visually-hidden' }, 'Example'),
    h(
      'select',
      {
        value: state.example,
        onChange: ({ target }: Event) => {
          const found = examples.find(({ name }) => name === (target as HTMLSelectElement).value);
          if (found) Object.assign(state, startOf(found));
        },
      },
      examples.map(({ name }) => h('option', { value: name }, name)),
    ),
  ]);
  const select = (key: string) => Object.assign(state, { input: key as InputFile, at: null });
  return h('section', { class: 'play-side', 'aria-label': 'The two files' }, [
    h('div', { class: 'play-bar' }, [
      h(Tabs, { label: 'Files', tabs: INPUTS, selected: state.input, panel: 'input', select }),
      label,
    ]),
    h(
      'div',
      {
        id: 'input',
        role: 'tabpanel',
        'aria-labelledby': `input-${state.input}`,
        class: 'play-panel',
      },
      // Each file has an editor of its own, and with it its own history.
      [inputEditor(state)],
    ),
  ]);
}

function inputEditor(state: State): VNode {
  const name = state.input;
  return h(EditorView, {
    key: `${state.example} ${name}`,
    label: name,
    file: name,
    text: state.inputs[name],
    findings: (state.output?.findings ?? []).filter(({ at }) => at.file === name),
    at: state.at,
    change: (text: string) => void (state.inputs = { ...state.inputs, [name]: text }),
  });
}

function resultSide(
  state: State,
  file: Parameters<typeof filesView>[1],
  actions: ResultActions,
): VNode {
  const { output, failure } = state;
  const tabs: readonly Tab[] = [
    { key: 'findings', text: 'Findings', ...(output && { figure: output.findings.length }) },
    { key: 'files', text: 'Files', ...(output && { figure: output.files.length }) },
    { key: 'sql', text: 'SQL' },
    { key: 'migrations', text: 'Migrations' },
  ];
  const isBroken = output !== null && output.files.length === 0;
  const tab = isBroken ? 'findings' : state.tab;
  const select = (key: string) => void (state.tab = key as ResultTab);
  return h('section', { class: 'play-side', 'aria-label': 'What they mean' }, [
    h('div', { class: 'play-bar' }, [
      h(Tabs, { label: 'Results', tabs, selected: tab, panel: 'result', select }),
    ]),
    h(
      'div',
      { id: 'result', role: 'tabpanel', 'aria-labelledby': `result-${tab}`, class: 'play-panel' },
      [
        failure === '' ? null : h('p', { role: 'alert', class: 'play-empty' }, failure),
        output
          ? {
              findings: () => findingsView(output, actions),
              files: () => filesView(output.files, file, actions),
              sql: () => sqlView(output, state, actions),
              migrations: () => migrationsView(output, state, actions),
            }[tab]()
          : h('p', { class: 'play-empty' }, 'The generator is loading.'),
      ],
    ),
  ]);
}
