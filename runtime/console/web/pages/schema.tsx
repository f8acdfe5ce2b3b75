import { t } from '../messages.ts';
import { Failure } from '../parts/failure.tsx';
import { useTitle } from '../parts/title.ts';
import { useCall } from '../parts/use-call.ts';

interface Described {
  readonly types: readonly {
    readonly name: string;
    readonly kind: string;
    readonly table?: string;
    readonly fields?: readonly {
      readonly name: string;
      readonly type: string;
      readonly column: string;
    }[];
    readonly relations?: readonly {
      readonly field: string;
      readonly to: string;
      readonly kind: string;
    }[];
    readonly values?: readonly string[];
  }[];
  readonly sdl: string;
}

/** The types of the schema, with their tables, and the SDL. */
export function SchemaPage() {
  useTitle(t('Schema'));
  const { data, error, loading, reload } = useCall<Described>('/api/system/schema');
  return (
    <div aria-busy={loading}>
      <h1>{t('Schema')}</h1>
      {error !== null && <Failure error={error} again={reload} />}
      {data && (
        <>
          <div class="scroll">
            <table aria-label={t('Types')}>
              <thead>
                <tr>
                  <th scope="col">{t('Type')}</th>
                  <th scope="col">{t('Kind')}</th>
                  <th scope="col">{t('Table')}</th>
                  <th scope="col">{t('Fields')}</th>
                  <th scope="col">{t('Relations')}</th>
                </tr>
              </thead>
              <tbody>
                {data.types.map((type) => (
                  <tr key={type.name} id={`type-${type.name}`}>
                    <th scope="row">{type.name}</th>
                    <td>{type.kind}</td>
                    <td>{type.table ?? ''}</td>
                    <td>
                      {(type.fields?.map(({ name }) => name) ?? type.values ?? []).join(', ')}
                    </td>
                    <td>
                      {type.relations?.map(({ field, to, kind }) => (
                        <span key={field} class="relation">
                          {field} → <a href={`#type-${to}`}>{kind === 'many' ? `[${to}]` : to}</a>
                        </span>
                      ))}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <h2>{t('SDL')}</h2>
          <pre tabIndex={0}>{data.sdl}</pre>
        </>
      )}
    </div>
  );
}
