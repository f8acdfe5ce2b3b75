import type { Difference, MigrationStatus as Status } from '../../../flows/server.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { Answer, Badge, Panel } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { useCall } from '../../parts/use-call.ts';

interface Migration {
  readonly name: string;
  readonly states: readonly (keyof Status)[];
}

const STATES = ['applied', 'pending', 'empty', 'changed', 'missing', 'partial'] as const;
const MARKS = ['draft', 'oneWay'] as const;

/** The migrations that are applied to the database, and those that are not. */
export function Migrations() {
  const answer = useCall<Status>('/api/system/migrations');
  return (
    <Panel name={t('Database history')}>
      <Table
        name={t('Migrations')}
        rows={answer.data && migrationsOf(answer.data)}
        keyOf={({ name }) => name}
        of={answer}
        empty={[
          t('No migrations'),
          t('Without a folder migrations the server makes missing tables itself.'),
        ]}
        columns={[
          { id: 'name', title: t('Migration'), render: ({ name }) => <code>{name}</code> },
          {
            id: 'state',
            title: t('State'),
            render: ({ states }) => (
              <span class="migration-states">
                {states.map((state) => (
                  <Badge key={state} tone={toneOf(state)}>
                    {wordOf(state)}
                  </Badge>
                ))}
              </span>
            ),
          },
        ]}
      />
    </Panel>
  );
}

/**
 * The migrations of the project come first, in their order. Those of the server have the name of a
 * part before a slash.
 */
function migrationsOf(status: Status): Migration[] {
  const names = [...new Set(STATES.flatMap((state) => status[state]))];
  const own = (name: string) => !name.includes('/');
  return [...names.filter(own).toSorted(), ...names.filter((name) => !own(name)).toSorted()].map(
    (name) => ({
      name,
      states: [...STATES, ...MARKS].filter((state) => status[state].includes(name)),
    }),
  );
}

function toneOf(state: keyof Status): 'plain' | 'good' | 'bad' | 'busy' {
  if (state === 'applied') return 'good';
  if (state === 'pending' || state === 'partial') return 'busy';
  return state === 'changed' || state === 'missing' ? 'bad' : 'plain';
}

const wordOf = (state: keyof Status): string =>
  ({
    applied: t('applied'),
    pending: t('pending'),
    draft: t('draft'),
    empty: t('no step'),
    changed: t('changed since'),
    missing: t('file missing'),
    partial: t('stopped half-way'),
    oneWay: t('one-way'),
  })[state];

/** The differences between the tables and what the applied migrations make. */
export function Drift() {
  const answer = useCall<{ drift: readonly Difference[] }>('/api/system/migrations?drift=true');
  return (
    <Panel
      name={t('Drift')}
      tools={
        <Button onClick={answer.reload} disabled={answer.loading}>
          {t('Compare again')}
        </Button>
      }
    >
      <Answer of={answer} lines={3}>
        {({ drift }) => (drift.length === 0 ? <NoDrift /> : <Differences drift={drift} />)}
      </Answer>
    </Panel>
  );
}

const NoDrift = () => (
  <p class="no-drift">
    <Badge tone="good">{t('none')}</Badge> {t('The tables match the applied migrations.')}
  </p>
);

function Differences({ drift }: { drift: readonly Difference[] }) {
  return (
    <Table
      name={t('Differences')}
      rows={drift}
      keyOf={({ object, kind, expected }) => `${object} ${kind} ${expected}`}
      columns={[
        { id: 'object', title: t('Object'), render: ({ object }) => <code>{object}</code> },
        { id: 'kind', title: t('Kind'), render: ({ kind }) => <Badge tone="bad">{kind}</Badge> },
        {
          id: 'expected',
          title: t('Migrations make'),
          width: 'wrap',
          render: ({ expected }) => expected ?? '–',
        },
        {
          id: 'found',
          title: t('Database has'),
          width: 'wrap',
          render: ({ found }) => found ?? '–',
        },
        { id: 'fix', title: t('Fix'), width: 'wrap', render: ({ fix }) => fix },
      ]}
    />
  );
}
