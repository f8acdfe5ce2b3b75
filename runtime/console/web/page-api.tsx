import type * as Api from '../own-pages.ts';
import htm from 'htm';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { navigate as goTo, graphqlPath } from './address.ts';
import { call as request } from './call.ts';
import { t } from './messages.ts';
import { confirm } from './parts/confirm.tsx';
import { Dialog } from './parts/dialog.tsx';
import { Editor as ColouredEditor } from './parts/editor.tsx';
import { Failure, Empty } from './parts/page.tsx';
import { Field } from './parts/field.tsx';
import { LogLines } from './parts/log-lines.ts';
import { LogView as KeptLines } from './parts/log-view.tsx';
import { notify } from './parts/notices.tsx';
import { Plot } from './parts/plot.tsx';
import { Table as NamedTable } from './parts/table.tsx';
import { Tabs } from './parts/tabs.tsx';
import { useCall as useQuery, type Called } from './parts/use-call.ts';

/** The browser's implementation of `@twofold/console`; `own-pages.ts` has its types. */

export { confirm, Dialog, Empty, Failure, Field, notify, Plot, t, Tabs, useGraphql, useQuery };

export const definePage: typeof Api.definePage = (page) => page;

const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

/** Values come from rows and requests: a link of another scheme than these would run their text. */
function element(type: any, props: Record<string, any> | null, ...children: any[]) {
  const given = { ...props };
  delete given['dangerouslySetInnerHTML'];
  for (const name of Object.keys(given))
    if (/href$/i.test(name) && !isPlain(String(given[name]))) delete given[name];
  return h(type, given, ...children);
}

function isPlain(href: string): boolean {
  return URL.canParse(href, location.href) && SCHEMES.has(new URL(href, location.href).protocol);
}

/** The package's types describe another build than the one that is bundled, so they are cast. */
const { bind } = htm as unknown as { bind(make: typeof element): typeof Api.html };

export const html = bind.call(htm as never, element);

export const call = <Answer,>(method: string, path: string, body?: unknown): Promise<Answer> =>
  request<Answer>(method, ownPath(path), body);

/** Throws for an address of another server, because the token must be sent only to this one. */
function ownPath(path: string): string {
  const url = new URL(path, location.origin);
  if (url.origin !== location.origin)
    throw new TypeError(`${path} is not on this server: a page calls its own server only`);
  // Two slashes at the beginning would name another server.
  return `${url.pathname.replace(/^\/+/, '/')}${url.search}`;
}

export const navigate = (to: string): void => goTo(ownPath(to));

type Row = Readonly<Record<string, unknown>>;

export function Table({ name, rows, columns, empty, linkOf, ...called }: Api.TableProps<Row>) {
  const { loading = false, error = null, again } = called;
  return (
    <NamedTable
      name={name}
      rows={rows}
      columns={columns.map(columnOf)}
      keyOf={keysOf(rows)}
      empty={<Empty text={empty ?? t('No rows')} />}
      {...(linkOf && { linkOf: (row: Row) => (isPlain(linkOf(row)) ? linkOf(row) : undefined) })}
      of={{ loading, error, ...(again && { reload: again }) }}
    />
  );
}

function columnOf(column: Api.TableColumn<Row>) {
  const { id, title, render, align } = typeof column === 'string' ? { id: column } : { ...column };
  return {
    id,
    title: title ?? id,
    render: (row: Row) => (render ? (render(row) as ComponentChildren) : textOf(row[id])),
    sort: (row: Row) => sortable(row[id]),
    ...(align && { align }),
  };
}

const textOf = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);

const sortable = (value: unknown) =>
  typeof value === 'number' || typeof value === 'string' ? value : JSON.stringify(value ?? null);

/** Rows without an id get their position as a key. */
function keysOf(rows: readonly Row[] | undefined) {
  const places = new Map(rows?.map((row, at) => [row, at]));
  return (row: Row) => {
    const { id } = row;
    return typeof id === 'string' || typeof id === 'number' ? id : (places.get(row) ?? 0);
  };
}

export function LogView({ name, lines, empty }: Api.LogViewProps) {
  const kept = useMemo(() => new LogLines(), []);
  useEffect(() => {
    kept.clear();
    kept.append(lines);
  }, [lines]);
  return (
    <KeptLines
      lines={kept}
      {...(name !== undefined && { name })}
      {...(empty !== undefined && { empty })}
    />
  );
}

export function Json({ value }: { value: unknown }) {
  return (
    <pre class="json" tabIndex={0}>
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}

/** Text in a language has its colours, as on the page `GraphQL`. Other text needs no editor. */
export function Editor({ label, value, change, language = 'text' }: Api.EditorProps) {
  if (language !== 'text') return <ColouredEditor {...{ label, value, change, language }} />;
  return (
    <textarea
      class="editor"
      aria-label={label}
      spellcheck={false}
      value={value}
      rows={12}
      onInput={(event) => change(event.currentTarget.value)}
    />
  );
}

/** The classes of `console.css` by the tones of `@twofold/console`. */
const TONES = { plain: 'plain', primary: 'main', danger: 'danger' } as const;

export function Button({ onClick, tone = 'plain', disabled = false, children }: Api.ButtonProps) {
  return (
    <button type="button" class={TONES[tone]} disabled={disabled} onClick={() => void onClick()}>
      {children as ComponentChildren}
    </button>
  );
}

interface GraphqlAnswer<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly { readonly message: string }[];
}

/**
 * Runs a GraphQL query while its component is shown: again when it or its variables change, and once
 * the server is back after it was gone.
 *
 * @example const { data } = useGraphql<{ posts: Post[] }>('{ posts { id title } }');
 */
function useGraphql<Data>(
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): Called<Data> {
  const body = JSON.stringify({ query, variables });
  const { data: answer, error, ...rest } = useQuery<GraphqlAnswer<Data>>(graphqlPath, { body });
  const refused = answer?.errors?.[0]?.message ?? null;
  return { ...rest, data: answer?.data ?? undefined, error: error ?? refused };
}
