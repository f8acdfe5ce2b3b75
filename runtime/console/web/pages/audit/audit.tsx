import { askedPath, base, query, setQuery } from '../../address.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { CursorPager } from '../../parts/cursor-pager.tsx';
import { Choice } from '../../parts/field.tsx';
import { Badge, Empty, Page } from '../../parts/page.tsx';
import { type Column, Table, timeColumn } from '../../parts/table.tsx';
import { useCall } from '../../parts/use-call.ts';
import { useId } from 'preact/hooks';
import { useTyped } from '../../parts/search-box.tsx';

interface Entries {
  readonly entries: readonly Entry[];
  readonly next_cursor: string | null;
}

/** Milliseconds after which the newest entries are asked for again. */
const EVERY = 10_000;
const FILTERS = ['actor', 'action', 'target', 'via'] as const;

/** Who changed what. */
export function AuditPage() {
  const cursor = query.value.get('cursor');
  const answer = useCall<Entries>(pathOf(), { every: cursor === null ? EVERY : null });
  const filtered = [...FILTERS, 'since'].some((name) => query.value.get(name) !== null);
  return (
    <Page
      title={t('Audit')}
      about={t('Each change by a person or a key with a permission, newest first.')}
    >
      <Filters entries={answer.data?.entries ?? []} />
      <Table
        name={t('Audit')}
        columns={columns()}
        rows={answer.data?.entries}
        of={answer}
        empty={<NoEntries filtered={filtered} older={cursor !== null} />}
      />
      <CursorPager next={answer.data?.next_cursor} />
    </Page>
  );
}

function pathOf(): string {
  const since = sinceOf(query.value.get('since'));
  return askedPath('/api/system/audit', [...FILTERS, 'cursor'], since === null ? {} : { since });
}

const HOUR = 3_600_000;
const SPANS: ReadonlyMap<string | null, number> = new Map([
  ['1h', HOUR],
  ['24h', 24 * HOUR],
  ['7d', 168 * HOUR],
  ['30d', 720 * HOUR],
]);

/** The beginning of a span, at a full minute so that the path stays the same for a while. */
function sinceOf(span: string | null): string | null {
  const length = SPANS.get(span);
  if (length === undefined) return null;
  return new Date(Math.floor((Date.now() - length) / 60_000) * 60_000).toISOString();
}

function Filters({ entries }: { entries: readonly Entry[] }) {
  const seen = (of: (entry: Entry) => string) => [...new Set(entries.map(of))].filter(Boolean);
  const choose = (name: string) => (value: string) =>
    setQuery({ [name]: value === '' ? null : value, cursor: null });
  return (
    <div class="audit-filters" role="search" aria-label={t('Filters')}>
      <FilterBox label={t('Actor')} parameter="actor" known={seen(({ actor }) => actor)} first />
      <FilterBox label={t('Action')} parameter="action" known={seen(({ action }) => action)} />
      <FilterBox label={t('Target')} parameter="target" known={seen(({ target }) => target)} />
      <Choice
        label={t('Via')}
        value={query.value.get('via') ?? ''}
        options={[
          ['', t('Any')],
          ['console', 'console'],
          ['api', 'api'],
        ]}
        choose={choose('via')}
      />
      <Choice
        label={t('Since')}
        value={query.value.get('since') ?? ''}
        options={[
          ['', t('Any time')],
          ['1h', t('1 hour')],
          ['24h', t('24 hours')],
          ['7d', t('7 days')],
          ['30d', t('30 days')],
        ]}
        choose={choose('since')}
      />
    </div>
  );
}

const columns = (): readonly Column<Entry>[] => [
  timeColumn('at', t('Time'), { width: 'fit' }),
  {
    id: 'actor',
    title: t('Actor'),
    width: 'fit',
    render: ({ actor }) => <Only parameter="actor" value={actor} />,
  },
  {
    id: 'via',
    title: t('Via'),
    width: 'fit',
    render: ({ via }) => <Badge tone={via === 'api' ? 'plain' : 'good'}>{via}</Badge>,
  },
  {
    id: 'action',
    title: t('Action'),
    width: 'fit',
    render: ({ action }) => <Only parameter="action" value={action} />,
  },
  {
    id: 'target',
    title: t('Target'),
    width: 'wrap',
    render: ({ target }) => <Target target={target} />,
  },
  { id: 'detail', title: t('Detail'), render: (entry) => <Detail of={entry} /> },
  { id: 'ip', title: t('IP'), width: 'fit', render: ({ ip }) => <code>{ip}</code> },
];

/** A value whose button shows only the entries that have it. */
function Only({ parameter, value }: { parameter: string; value: string }) {
  return (
    <Button
      class="only"
      title={t('Show only {value}', { value })}
      onClick={() => setQuery({ [parameter]: value, cursor: null })}
    >
      {value}
    </Button>
  );
}

function Target({ target }: { target: string }) {
  if (target === '') return <span class="quiet">–</span>;
  const link = linkOf(target);
  return (
    <span class="audit-target">
      <Only parameter="target" value={target} />
      {link !== null && (
        <a href={link} aria-label={t('Open {target}', { target })}>
          ↗
        </a>
      )}
    </span>
  );
}

/** The page of the thing that was changed; null when it has none. */
function linkOf(target: string): string | null {
  const [, kind = '', id = ''] = /^(user|job):([\w-]+)$/.exec(target) ?? [];
  if (kind === 'user' && can('auth:read')) return `${base}/users/${id}`;
  if (kind === 'job' && can('jobs:read')) return `${base}/jobs?job=${id}`;
  return null;
}

function NoEntries({ filtered, older }: { filtered: boolean; older: boolean }) {
  if (filtered || older)
    return (
      <Empty text={t('No entries match')}>
        <Button
          onClick={() =>
            setQuery(
              Object.fromEntries([...FILTERS, 'since', 'cursor'].map((name) => [name, null])),
            )
          }
        >
          {t('Clear filters')}
        </Button>
      </Empty>
    );
  return (
    <Empty
      text={t('No changes yet')}
      hint={t('What people and keys change, here or through the API, is kept for a year.')}
    />
  );
}

/** Longer values are not shown in the row itself, but in its details. */
const SHORT = 60;

/** The change in an entry: on one line, and in full when it is opened. */
function Detail({ of }: { of: Entry }) {
  const { detail, request_id: request, at, id } = of;
  const line = lineOf(detail);
  return (
    <details class="audit-detail">
      <summary>{line === '' ? t('no fields') : line}</summary>
      <pre tabIndex={0}>{JSON.stringify(detail, null, 2)}</pre>
      <dl>
        <dt>{t('At')}</dt>
        <dd>{at}</dd>
        <dt>{t('Entry')}</dt>
        <dd>{id}</dd>
        {request !== '' && (
          <>
            <dt>{t('Request')}</dt>
            <dd>
              <a href={`${base}/logs?q=${encodeURIComponent(request)}`}>{request}</a>
            </dd>
          </>
        )}
      </dl>
    </details>
  );
}

function lineOf(detail: Entry['detail']): string {
  const { fields, ...values } = detail;
  const given = Object.entries(values).map(([name, value]) => `${name}: ${textOf(value)}`);
  const others = Array.isArray(fields) ? fields.filter((name) => !(String(name) in values)) : [];
  const line = [...given, ...(others.length > 0 ? [others.join(', ')] : [])].join(' · ');
  return line.length > SHORT * 2 ? `${line.slice(0, SHORT * 2)}…` : line;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

interface FilterBoxProps {
  readonly label: string;
  /** The parameter of the address that has the text. */
  readonly parameter: string;
  /** Texts that are offered. */
  readonly known: readonly string[];
  /** Whether `/` goes to it. */
  readonly first?: boolean;
}

/** A filter whose value is in the address. */
function FilterBox({ label, parameter, known, first = false }: FilterBoxProps) {
  const id = useId();
  const [text, type] = useTyped({ parameter });
  return (
    <span class="filter-box">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="search"
        list={`${id}-known`}
        autocomplete="off"
        spellcheck={false}
        value={text}
        {...(first && { 'data-search': '' })}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <datalist id={`${id}-known`}>
        {known.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </span>
  );
}

/** An entry of the log, as the API names it. */
interface Entry {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly via: string;
  readonly ip: string;
  readonly action: string;
  readonly target: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly request_id: string;
}
