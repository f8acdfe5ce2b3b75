import { useEffect } from 'preact/hooks';
import { followLink, path, navigate } from './address.ts';
import { Shell } from './shell.tsx';
import { NotFoundPage, Failure } from './parts/page.tsx';
import { SignInPage } from './pages/sign-in.tsx';
import { LazyPage, type LoadPage } from './parts/lazy-page.tsx';
import { description } from './description.ts';
import { describe, type SignInAnswer, startFailure } from './session.ts';
import { t } from './messages.ts';

/** The page of the address, for a user who is signed in. */
export function App({ first }: { first: SignInAnswer | null }) {
  const known = description.value;
  useEffect(() => {
    document.addEventListener('click', followLink);
    return () => document.removeEventListener('click', followLink);
  }, []);
  if (!known)
    return (
      <main class="alone">
        <h1>{t('Console')}</h1>
        <Failure error={startFailure.value ?? ''} again={describe} />
      </main>
    );
  if (known.caller === null) return <SignInPage known={known} first={first} />;
  return <Shell known={known}>{pageAt(path.value)}</Shell>;
}

/**
 * The pages by their ids, which are the first part of their path. Each is a file of its own, loaded
 * when it is opened.
 */
const PAGES: Readonly<Record<string, LoadPage>> = {
  data: async () => (await import('./pages/data.tsx')).DataPage,
  users: async () => (await import('./pages/users/users.tsx')).UsersPage,
  apps: async () => (await import('./pages/apps/list.tsx')).AppsPage,
  models: async () => (await import('./pages/models.tsx')).ModelsPage,
  audit: async () => (await import('./pages/audit/audit.tsx')).AuditPage,
  jobs: async () => (await import('./pages/jobs/jobs.tsx')).JobsPage,
  webhooks: async () => (await import('./pages/webhooks/webhooks.tsx')).WebhooksPage,
  schema: async () => (await import('./pages/schema/schema.tsx')).SchemaPage,
  logs: async () => (await import('./pages/logs/logs.tsx')).LogsPage,
  settings: async () => (await import('./pages/settings/settings.tsx')).SettingsPage,
  graphql: async () => (await import('./pages/graphql/graphql.tsx')).GraphqlPage,
};

const loadOverview: LoadPage = async () =>
  (await import('./pages/overview/overview.tsx')).OverviewPage;

/** Pages that have an address for each of their types, users or apps. */
const WITH_PARTS: ReadonlySet<string> = new Set(['data', 'users', 'apps']);

/** The page of an address. Only pages that the server lists for the caller are there. */
function pageAt(at: string) {
  const [first = '', ...rest] = at.split('/').filter((word) => word !== '');
  if (first === '')
    return isListed('overview') ? <LazyPage key="" load={loadOverview} rest={[]} /> : <HomePage />;
  if (first === 'pages') return <LazyPage key={at} load={loadOwnPage} rest={rest} />;
  const isThere = isListed(first) && rest.length <= (WITH_PARTS.has(first) ? 1 : 0);
  const load = isThere && Object.hasOwn(PAGES, first) ? PAGES[first] : undefined;
  return load ? <LazyPage key={first} load={load} rest={rest} /> : <NotFoundPage />;
}

const isListed = (page: string): boolean =>
  description.value?.pages.some(({ id }) => id === page) === true;

const loadOwnPage: LoadPage = async () => (await import('./pages/own.tsx')).OwnPage;

/** Goes on to the first page that the caller has. */
function HomePage() {
  const first = description.value?.pages[0]?.path;
  useEffect(() => {
    if (first !== undefined) navigate(first, { replace: true });
  }, [first]);
  return first === undefined ? <h1>{t('Your role has no pages here')}</h1> : null;
}
