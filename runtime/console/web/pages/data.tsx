import { useEffect, useMemo } from 'preact/hooks';
import { navigate, query, setQuery, base, guardLeaving } from '../address.ts';
import { t } from '../messages.ts';
import { Button } from '../parts/button.tsx';
import { can } from '../parts/can.ts';
import { Failure, Empty, Loading, Page } from '../parts/page.tsx';
import { Switch } from '../parts/field.tsx';
import type { PageProps } from '../parts/lazy-page.tsx';
import { formatNumber } from '../parts/time.tsx';
import { useCall } from '../parts/use-call.ts';
import { type Module, modulesOf, type OpenApi } from '../rest-modules.ts';
import { modules as known, isAdmin, typeAddress } from './data/view.ts';
import { Rows } from './data/rows.tsx';
import { confirm } from '../parts/confirm.tsx';
import { discardChanges, unsaved } from './data/staged.ts';

interface Totals {
  readonly types: readonly {
    readonly name: string;
    readonly path: string;
    readonly total: number;
  }[];
}

/** Rows of every type that the API lists: under the caller's own rights, or as administrator. */
export function DataPage({ rest }: PageProps) {
  const plural = rest[0] ?? null;
  const admin = isAdmin();
  const { data: document, error, reload } = useCall<OpenApi>('/api/openapi.json');
  const modules = useMemo(() => (document ? readModules(document, admin) : []), [document, admin]);
  known.value = modules;
  useLeaving();
  useFirstType(modules, plural);
  const mayAdmin = can('data:read') && document?.paths['/api/data'] !== undefined;
  return (
    <Page
      title={t('Data')}
      tools={
        (mayAdmin || admin) && (
          <Switch label={t('As administrator')} on={admin} change={turnAdmin} />
        )
      }
    >
      {admin && <Banner />}
      {error !== null && <Failure error={error} again={reload} />}
      {document === undefined && error === null && <Loading lines={12} />}
      {document && modules.length === 0 && <NoTypes mayAdmin={mayAdmin && !admin} />}
      {modules.length > 0 && <Types {...{ modules, plural }} admin={admin && mayAdmin} />}
    </Page>
  );
}

/** The types, and the rows of the one that the address names. */
function Types(props: TypeListProps) {
  const { modules, plural } = props;
  const shown = modules.find((each) => each.plural === plural);
  return (
    <div class="data">
      <TypeList {...props} />
      {shown && <Rows key={shown.path} module={shown} />}
      {plural !== null && !shown && (
        <p role="alert">{t('There is no type {plural}', { plural })}</p>
      )}
    </div>
  );
}

/** Opens the rows of the first type when the address names none. */
function useFirstType(modules: readonly Module[], plural: string | null): void {
  const first = plural === null ? modules[0]?.plural : undefined;
  useEffect(() => {
    if (first !== undefined) navigate(typeAddress(first), { replace: true });
  }, [first]);
}

/**
 * The types that the API lists. Without the permission to write they have no inputs, so no control
 * changes anything.
 */
const readModules = (document: OpenApi, admin: boolean): Module[] =>
  modulesOf(document, admin).map((module) =>
    !admin || can('data:write') ? module : { ...module, create: null, update: [], remove: false },
  );

/** Another set of types has other columns, so filters do not stay. */
function turnAdmin(on: boolean): void {
  const gone = [...query.value.keys()].filter((name) => name !== 'locale');
  setQuery({ ...Object.fromEntries(gone.map((name) => [name, null])), as: on ? 'admin' : null });
}

const Banner = () => (
  <p class="admin-banner" role="note">
    <b>{t('As administrator')}.</b>{' '}
    {t(
      'The rules of the schema do not hold here: every row is read and written. Changes stand in the audit.',
    )}
  </p>
);

function NoTypes({ mayAdmin }: { mayAdmin: boolean }) {
  return (
    <Empty
      text={t('The API has no lists')}
      hint={t('Add a field to Query, or api.rest and api.crud to the manifest.')}
    >
      {mayAdmin && (
        <Button onClick={() => turnAdmin(true)}>{t('Show all types as administrator')}</Button>
      )}
    </Empty>
  );
}

interface TypeListProps {
  readonly modules: readonly Module[];
  readonly plural: string | null;
  readonly admin: boolean;
}

function TypeList({ modules, plural, admin }: TypeListProps) {
  const { data } = useCall<Totals>(admin ? '/api/data' : null);
  const totals = new Map(data?.types.map(({ path, total }) => [path, total]));
  return (
    <nav aria-label={t('Types')} class="type-list">
      <ul>
        {modules.map(({ path, plural: name, type }) => (
          <li key={path}>
            <a href={typeAddress(name)} aria-current={name === plural ? 'page' : undefined}>
              {type}
            </a>
            <Count of={totals.get(path)} />
          </li>
        ))}
      </ul>
    </nav>
  );
}

const Count = ({ of }: { of: number | undefined }) =>
  of === undefined ? null : <span class="quiet">{formatNumber(of)}</span>;

/** Asks before the user leaves the page with changes that are not saved. */
function useLeaving(): void {
  useEffect(() => {
    const onUnload = (event: BeforeUnloadEvent) => {
      if (unsaved.value > 0) event.preventDefault();
    };
    addEventListener('beforeunload', onUnload);
    const free = guardLeaving(mayLeave);
    return () => {
      removeEventListener('beforeunload', onUnload);
      free();
    };
  }, []);
}

/**
 * Staged changes stay when the user goes from one type to another, so only other addresses are
 * asked about.
 */
async function mayLeave(to: URL): Promise<boolean> {
  if (unsaved.value === 0 || `${to.pathname}/`.startsWith(`${base}/data/`)) return true;
  const text = t(
    unsaved.value === 1 ? '1 unsaved change will be lost.' : '{n} unsaved changes will be lost.',
    { n: unsaved.value },
  );
  const leaves = await confirm({ text, action: t('Leave') });
  if (leaves) discardChanges();
  return leaves;
}
