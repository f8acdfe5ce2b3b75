import type { ComponentChildren } from 'preact';
import type { Called } from './use-call.ts';
import { t } from '../messages.ts';
import { Button } from './button.tsx';
import { useEffect } from 'preact/hooks';
import { description } from '../description.ts';
import { base } from '../address.ts';

interface PageFrameProps {
  /** The name of the page: its only h1, and the first part of the document's title. */
  readonly title: string;
  /** One sentence below the name. */
  readonly about?: ComponentChildren;
  /** Buttons and boxes at the right of the name. */
  readonly tools?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The line below the name while its text is loaded, so that nothing moves when it comes. */
export const RESERVED = '\u00a0';

/**
 * The frame of a page: one h1, the title of the document, and the tools.
 *
 * @example
 * <Page title={t('Users')} tools={<SearchBox label={t('Search users')} />}>
 *   <Answer of={users}>{({ users }) => <Table name={t('Users')} rows={users} … />}</Answer>
 * </Page>
 */
export function Page({ title, about, tools, children }: PageFrameProps) {
  useTitle(title);
  return (
    <div class="page">
      <header class="page-head">
        <div class="page-name">
          <h1>{title}</h1>
          {about !== undefined && <p class="about">{about}</p>}
        </div>
        {tools !== undefined && tools !== false && <div class="tools">{tools}</div>}
      </header>
      {children}
    </div>
  );
}

interface AnswerProps<Data> {
  readonly of: Called<Data>;
  /**
   * How many grey lines are shown while the content is loaded. They should be about as high as the
   * content.
   */
  readonly lines?: number;
  readonly children: (data: Data) => ComponentChildren;
}

/**
 * What a call answered, in each state: lines while it is loaded, the server's words and `Try again`
 * when it was refused. Once there is an answer it stays while the next is on its way.
 *
 * @example <Answer of={useCall<Info>('/api/system/info')}>{(info) => <p>{info.name}</p>}</Answer>
 */
export function Answer<Data>({ of, lines = 6, children }: AnswerProps<Data>) {
  return (
    <div class="answer" aria-busy={of.loading}>
      {of.error !== null && <Failure error={of.error} again={of.reload} />}
      {of.data === undefined && of.error === null && <Skeleton lines={lines} />}
      {of.data !== undefined && children(of.data)}
    </div>
  );
}

/** Grey lines in place of content that is being loaded. They are hidden from screen readers. */
export function Skeleton({ lines = 6 }: { lines?: number }) {
  return (
    <div class="skeleton" aria-hidden="true">
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  );
}

/** The lines, and that something is being loaded, for screen readers. */
export const Loading = ({ lines = 6 }: { lines?: number }) => (
  <div aria-busy="true">
    <Skeleton lines={lines} />
  </div>
);

/**
 * Says that something is missing, with an action that adds it.
 *
 * @example <Empty text={t('No apps yet')} hint={t('An app is …')}><button …>{t('New app')}</button></Empty>
 */
export function Empty({
  text,
  hint,
  children,
}: {
  text: string;
  hint?: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p class="empty-text">{text}</p>
      {hint !== undefined && <p class="quiet">{hint}</p>}
      {children}
    </div>
  );
}

interface PanelProps {
  /** The name of the region, and its heading. */
  readonly name: string;
  readonly tools?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/**
 * A part of a page with a heading: a region of that name.
 *
 * @example <Panel name={t('Health')}>…</Panel>
 */
export function Panel({ name, tools, children }: PanelProps) {
  return (
    <section class="panel" aria-label={name}>
      <div class="panel-head">
        <h2>{name}</h2>
        {tools !== undefined && tools !== false && <div class="tools">{tools}</div>}
      </div>
      {children}
    </section>
  );
}

/**
 * The name of a state, in a colour that supports its meaning.
 *
 * @example <Badge tone="good">{t('running')}</Badge>
 */
export function Badge({
  tone = 'plain',
  children,
}: {
  tone?: 'plain' | 'good' | 'bad' | 'busy';
  children: ComponentChildren;
}) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/**
 * Names and values, one below the other.
 *
 * @example <Facts rows={[[t('Version'), info.version], [t('Started'), <Time at={info.started_at} />]]} />
 */
export function Facts({
  rows,
}: {
  rows: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  return (
    <dl>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/**
 * An error with the server's message, and a button to try again.
 *
 * @example <Failure error={error} again={reload} />
 */
export function Failure({ error, again }: { error: string; again?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{error}</p>
      {again && <Button onClick={again}>{t('Try again')}</Button>}
    </div>
  );
}

/** The title that the document came with. */
const ALONE = document.title;

/** Sets the title of the document for a page: `Data · shop`. */
export function useTitle(page: string): void {
  const name = description.value?.name ?? ALONE;
  useEffect(() => {
    document.title = `${page} · ${name}`;
  }, [page, name]);
}

export function NotFoundPage() {
  useTitle(t('Page not found'));
  return (
    <>
      <h1>{t('Page not found')}</h1>
      <p>
        <a href={`${base}/`}>{t('Go to the first page')}</a>
      </p>
    </>
  );
}
