import { Component, type ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Caller, OwnPage as PageDefinition } from '../../own-pages.ts';
import { base, decoded, query } from '../address.ts';
import { t } from '../messages.ts';
import { can } from '../parts/can.ts';
import { lost, returns } from '../parts/connection.ts';
import { Failure, Empty, Loading, Page, NotFoundPage } from '../parts/page.tsx';
import type { PageProps } from '../parts/lazy-page.tsx';
import { description } from '../description.ts';

/** A page as the server lists it, and where its module is. */
interface Listed {
  readonly title: string;
  readonly path: string;
  readonly permission: string | null;
  readonly module: string;
}

/** Milliseconds after which a saved file of a page is noticed, in development. */
const WATCHED = 1500;

/** A page of the project's own: its file is loaded and rendered below a frame of ours. */
export function OwnPage({ rest }: PageProps) {
  const [listed, setListed] = useState<readonly Listed[] | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const read = () => {
    fetch(`${base}/modules/list.json`).then(
      async (answer) => (answer.ok ? setListed(await listOf(answer)) : setListed([])),
      () => (lost(), setFailed(t('The server does not answer'))),
    );
  };
  useEffect(() => {
    read();
    if (description.value?.environment !== 'development') return;
    const timer = setInterval(() => document.hidden || read(), WATCHED);
    return () => clearInterval(timer);
  }, [returns.value]);
  if (listed === null)
    return failed === null ? (
      <Loading />
    ) : (
      <Failure error={failed} again={() => (setFailed(null), read())} />
    );
  const found = listed
    .map((page) => ({ page, params: paramsOf(page.path, rest) }))
    .find(({ params }) => params);
  if (!found?.params) return <NotFoundPage />;
  const { page, params } = found;
  return (
    <Page key={page.path} title={page.title}>
      {page.permission !== null && !can(page.permission) ? (
        <Empty
          text={t('This page needs the permission {permission}', { permission: page.permission })}
        />
      ) : (
        <Loaded key={page.module} module={page.module} params={params} />
      )}
    </Page>
  );
}

/**
 * The last list. An equal list is returned as the same object, so that pages are not drawn again.
 */
let last = { text: '[]', pages: [] as readonly Listed[] };

async function listOf(answer: Response): Promise<readonly Listed[]> {
  const text = await answer.text();
  if (text !== last.text) last = { text, pages: (JSON.parse(text) as { pages: Listed[] }).pages };
  return last.pages;
}

/** `orders/:id` for `orders/7` is `{ id: '7' }`; null for another address. */
function paramsOf(path: string, words: readonly string[]): Readonly<Record<string, string>> | null {
  const wanted = path.split('/');
  if (wanted.length !== words.length) return null;
  const params: Record<string, string> = {};
  for (const [at, word] of wanted.entries())
    if (word.startsWith(':')) params[word.slice(1)] = decoded(words[at] ?? '');
    else if (word !== words[at]) return null;
  return params;
}

type Params = Readonly<Record<string, string>>;

function Loaded({ module, params }: { module: string; params: Params }) {
  const [page, setPage] = useState<PageDefinition | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const load = (again = '') => {
    setFailed(null);
    import(/* @vite-ignore */ `${module}${again}`).then(
      ({ default: made }: { default: PageDefinition }) => setPage(() => made),
      (error: unknown) => setFailed(String(error)),
    );
  };
  useEffect(() => {
    if (page === null) load(failed === null ? '' : `?again=${Date.now()}`);
  }, [returns.value]);
  // The browser remembers that a module failed to load. Only a changed address loads it again.
  if (failed !== null) return <Failure error={failed} again={() => load(`?again=${Date.now()}`)} />;
  if (page === null) return <Loading />;
  return (
    <Guarded>
      <Rendered page={page} params={params} />
    </Guarded>
  );
}

/** Calls the page's function as a component of its own, so that the hooks in it belong to it. */
function Rendered({ page, params }: { page: PageDefinition; params: Params }) {
  const caller = description.value?.caller as Caller;
  return (
    <>
      {page.render({ params, query: Object.fromEntries(query.value), caller }) as ComponentChildren}
    </>
  );
}

/** Shows an error of a page in place of that page. The rest of the console stays usable. */
class Guarded extends Component<{ children: ComponentChildren }, { error: string | null }> {
  override state = { error: null as string | null };

  override componentDidCatch(error: unknown): void {
    this.setState({ error: String(error) });
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return <Failure error={error} again={() => this.setState({ error: null })} />;
  }
}
