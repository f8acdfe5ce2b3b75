import { useState } from 'preact/hooks';
import { t } from '../../messages.ts';
import { CloseButton } from '../../parts/button.tsx';
import { RelationSearch, type RelationSearchProps } from './relation-search.tsx';

/** Chooses several related rows. The form has their ids as JSON. */
export function RelatedRows(props: RelationSearchProps) {
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({});
  const ids = Object.keys(chosen);
  return (
    <span>
      {/* A form takes the first control of a name. */}
      <input
        type="hidden"
        name={props.field.name}
        value={ids.length > 0 ? JSON.stringify(ids) : ''}
      />
      <RelationSearch
        {...props}
        choose={(id, label) => setChosen({ ...chosen, [String(id)]: label })}
      />
      <ul class="chips">
        {ids.map((id) => (
          <li key={id}>
            {id} {chosen[id]}
            <CloseButton
              label={t('Remove {id}', { id })}
              onClick={() => setChosen(({ [id]: _removed, ...others }) => others)}
            />
          </li>
        ))}
      </ul>
    </span>
  );
}
