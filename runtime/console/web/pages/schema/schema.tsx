import { query } from '../../address.ts';
import { t } from '../../messages.ts';
import { Answer, Empty, Page, Panel } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { useCall } from '../../parts/use-call.ts';
import type { Described } from './described.ts';
import { ModelGraph } from './graph.tsx';
import { Drift, Migrations } from './migrations.tsx';
import { TypeRegion } from './type-region.tsx';
import { TypeTable } from './type-table.tsx';

/** The model: as a picture, as a table, as SDL, and what is applied to the database. */
export function SchemaPage() {
  const schema = useCall<Described>('/api/system/schema');
  return (
    <Page title={t('Schema')} tools={<SearchBox label={t('Search types')} />}>
      <Answer of={schema} lines={14}>
        {(described) => <Model described={described} />}
      </Answer>
      <Migrations />
      <Drift />
    </Page>
  );
}

function Model({ described: { types, sdl } }: { described: Described }) {
  const chosen = types.find(({ name }) => name === query.value.get('type'));
  if (types.length === 0)
    return (
      <Empty
        text={t('No types yet')}
        hint={t('A type of schema.graphql with a field id is kept in a table.')}
      />
    );
  return (
    <>
      <ModelGraph types={types} />
      {chosen && <TypeRegion type={chosen} />}
      <TypeTable types={types} />
      <Panel name={t('SDL')}>
        <pre class="sdl" tabIndex={0}>
          {sdl}
        </pre>
      </Panel>
    </>
  );
}
