import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { graphqlPath, query, setQuery } from '../../address.ts';
import { description } from '../../description.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { Editor } from '../../parts/editor.tsx';
import { schemaOf } from '../../parts/editor-graphql.ts';
import { Choice } from '../../parts/field.tsx';
import type { PageProps } from '../../parts/lazy-page.tsx';
import { notifyFailure } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { Docs } from './docs.tsx';
import { type Box, keptText, type Past, useHistory, useKeep, useSaved } from './kept.ts';
import { firstQuery } from './first-query.ts';
import { Plan, type ExplainedAs, usePlan } from './plan.tsx';
import { prettify } from './prettify.ts';
import { Result } from './result.tsx';
import { errorsOf, marksOf } from './run.ts';
import { History, SaveDialog, Saved } from './saved.tsx';
import { type Typed, typedAt } from './typed.ts';
import { type SetText, useOperation } from './use-operation.ts';
import { useRun } from './use-run.ts';
import { useSchema } from './use-schema.ts';

interface GraphqlPageProps extends Partial<PageProps> {
  /** Whether this browser keeps what is typed and what was run. */
  readonly keeps?: boolean;
}

/** Writes and runs GraphQL operations as the caller, and explains them. */
export function GraphqlPage({ keeps = false }: GraphqlPageProps) {
  const boxes = useBoxes(keeps);
  const history = useHistory();
  const running = useRun();
  const plan = usePlan();
  const [as, setAs] = useState<ExplainedAs>({ kind: 'me' });
  const [saving, setSaving] = useState(false);
  const saved = useSaved(callerKey());
  const sdl = useSchema(boxes.headers);
  const schema = useMemo(() => (sdl ? schemaOf(sdl) : undefined), [sdl]);
  useEffect(() => {
    if (schema) boxes.setText((text) => text || firstQuery(schema));
  }, [schema]);
  const start = () => {
    if (keeps) history.add(boxes);
    running.start(boxes.typed());
  };
  const explain = () => plan.explain(boxes.typed(), as);
  const tools = (
    <Tools
      {...{ start, as, setAs, explain }}
      stop={running.outcome.running ? running.stop : null}
      prettify={boxes.prettify}
      save={() => setSaving(true)}
      hasDocs={schema !== undefined}
    />
  );
  return (
    <Page title={t('GraphQL')} tools={tools}>
      <div class={isOpen() && sdl ? 'graphql with-docs' : 'graphql'}>
        <div class="graphql-boxes" onKeyDown={(event) => layOutByKey(event, boxes)}>
          <Boxes {...{ boxes, sdl }} run={start} marks={running.outcome.answers.at(-1)?.text} />
          {sdl === null && <NoSchema />}
          <Saved
            queries={saved.queries}
            open={({ text }) => boxes.setText(text)}
            remove={saved.remove}
          />
          {keeps && <History {...history} open={boxes.open} />}
        </div>
        <div class="graphql-answers">
          {plan.planned && <Plan planned={plan.planned} again={explain} />}
          <Result outcome={running.outcome} several={running.several} />
        </div>
        {isOpen() && schema && <Docs schema={schema} />}
      </div>
      {saving && (
        <SaveDialog
          name={boxes.typed().name ?? ''}
          save={(name) => saved.save({ name, text: boxes.text })}
          close={() => setSaving(false)}
        />
      )}
    </Page>
  );
}

const NoSchema = () => (
  <p class="quiet">
    {t('The schema cannot be read: introspection is off, or a header must sign you in.')}
  </p>
);

/** Whose saved queries are shown: those of anybody where nobody signs in. */
function callerKey(): string {
  const caller = description.value?.caller;
  return caller ? `${caller.kind}:${caller.id ?? ''}` : graphqlPath;
}

/** Ctrl+Shift+P, as other explorers have it. */
function layOutByKey(event: KeyboardEvent, { prettify: lay }: BoxesState): void {
  if (!(event.ctrlKey || event.metaKey) || !event.shiftKey || event.code !== 'KeyP') return;
  event.preventDefault();
  lay();
}

/** The documentation is open while the address has the parameter `docs`. */
const isOpen = () => query.value.has('docs');

interface BoxesState {
  readonly text: string;
  readonly variables: string;
  readonly headers: string;
  readonly setText: SetText;
  readonly set: Readonly<Record<'variables' | 'headers', (text: string) => void>>;
  /** Puts an operation that was run into the boxes. */
  open(past: Past): void;
  moved(cursor: number): void;
  typed(): Typed;
  prettify(): void;
}

function useBoxes(keeps: boolean): BoxesState {
  const kept = (box: Box) => (keeps ? keptText(box) : '');
  const [text, setText] = useOperation(kept('operation'));
  const [variables, setVariables] = useState(
    () => query.value.get('variables') ?? kept('variables'),
  );
  const [headers, setHeaders] = useState(() => kept('headers'));
  useKeep({ operation: text, variables, headers }, keeps);
  const cursor = useRef(0);
  return {
    text,
    variables,
    headers,
    setText,
    set: { variables: setVariables, headers: setHeaders },
    open: (past) => (setText(past.text), setVariables(past.variables)),
    moved: (at) => (cursor.current = at),
    typed: () => typedAt({ text, variables, headers }, cursor.current),
    prettify: () => {
      try {
        setText(prettify(text));
        if (variables.trim() !== '') setVariables(JSON.stringify(JSON.parse(variables), null, 2));
      } catch (error) {
        notifyFailure((error as Error).message);
      }
    },
  };
}

interface BoxesProps {
  readonly boxes: BoxesState;
  run(): void;
  readonly sdl: string | null | undefined;
  /** The text of the last answer, whose errors are marked. */
  readonly marks: string | undefined;
}

function Boxes({ boxes, run, sdl, marks }: BoxesProps) {
  const places = useMemo(() => (marks === undefined ? [] : marksOf(errorsOf(marks))), [marks]);
  return (
    <>
      <Editor
        label={t('Operation')}
        language="graphql"
        size="tall"
        value={boxes.text}
        change={boxes.setText}
        at={boxes.moved}
        schema={sdl ?? undefined}
        marks={places}
        run={run}
      />
      <div class="graphql-objects">
        {JSON_BOXES.map(([name, title, placeholder]) => (
          <div key={name}>
            <p class="quiet" aria-hidden="true">
              {t(title)}
            </p>
            <Editor
              label={t(title)}
              language="json"
              value={boxes[name]}
              change={boxes.set[name]}
              placeholder={placeholder}
              run={run}
            />
          </div>
        ))}
      </div>
    </>
  );
}

const JSON_BOXES = [
  ['variables', 'Variables', '{ "id": 1 }'],
  ['headers', 'Headers', '{ "Accept-Language": "de" }'],
] as const;

interface ToolsProps {
  start(): void;
  readonly stop: (() => void) | null;
  prettify(): void;
  save(): void;
  explain(): void;
  readonly as: ExplainedAs;
  setAs(as: ExplainedAs): void;
  readonly hasDocs: boolean;
}

function Tools({ start, stop, prettify: lay, save, hasDocs, ...explaining }: ToolsProps) {
  return (
    <>
      <Button class="main" aria-keyshortcuts="Control+Enter" onClick={start}>
        {t('Run')}
      </Button>
      <Button disabled={stop === null} onClick={() => stop?.()}>
        {t('Stop')}
      </Button>
      <Button aria-keyshortcuts="Control+Shift+P" onClick={lay}>
        {t('Prettify')}
      </Button>
      <Button onClick={save}>{t('Save')}</Button>
      {can('system:read') && <ExplainTools {...explaining} />}
      {hasDocs && (
        <Button aria-expanded={isOpen()} onClick={() => setQuery({ docs: isOpen() ? null : '' })}>
          {t('Docs')}
        </Button>
      )}
    </>
  );
}

const CALLERS = [
  ['me', 'me'],
  ['public', 'the public'],
  ['user', 'a user'],
] as const;

function ExplainTools({ explain, as, setAs }: Pick<ToolsProps, 'explain' | 'as' | 'setAs'>) {
  const choose = (kind: string) =>
    setAs(kind === 'user' ? { kind, id: '' } : { kind: kind === 'public' ? 'public' : 'me' });
  return (
    <>
      <Button onClick={explain}>{t('Explain')}</Button>
      <Choice
        label={t('as')}
        value={as.kind}
        options={CALLERS.map(([kind, text]) => [kind, t(text)] as const)}
        choose={choose}
      />
      {as.kind === 'user' && (
        <input
          aria-label={t('User id')}
          placeholder={t('User id')}
          class="graphql-user"
          value={as.id}
          onInput={(event) => setAs({ kind: 'user', id: event.currentTarget.value })}
        />
      )}
    </>
  );
}
