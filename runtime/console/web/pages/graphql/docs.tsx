import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { useState } from 'preact/hooks';
import { query, setQuery } from '../../address.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { Panel } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';

/** The documentation of the schema. The type that is shown stands in the address: `docs=Post`. */
export function Docs({ schema }: { schema: GraphQLSchema }) {
  const [search, setSearch] = useState('');
  const type = schema.getType(query.value.get('docs') ?? '');
  return (
    <Panel name={t('Documentation')}>
      <div class="graphql-docs">
        <SearchBox label={t('Search types')} search={setSearch} />
        {search !== '' ? (
          <Found schema={schema} search={search} />
        ) : type ? (
          <TypeDocs schema={schema} type={type} />
        ) : (
          <Roots schema={schema} />
        )}
      </div>
    </Panel>
  );
}

const show = (name: string | null) => setQuery({ docs: name ?? '' });

function TypeLink({ type }: { type: { toString(): string } }) {
  const text = String(type);
  const name = text.replaceAll(/[[\]!]/g, '');
  return (
    <Button class="plain graphql-type" onClick={() => show(name)}>
      {text}
    </Button>
  );
}

function Roots({ schema }: { schema: GraphQLSchema }) {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  return (
    <ul>
      {roots.flatMap((root) =>
        root
          ? [
              <li key={root.name}>
                <TypeLink type={root} />
              </li>,
            ]
          : [],
      )}
    </ul>
  );
}

const MOST = 50;

/** Types and fields whose names contain the text. */
function Found({ schema, search }: { schema: GraphQLSchema; search: string }) {
  const wanted = search.toLowerCase();
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const fields = types.flatMap((type) =>
    Object.keys(fieldsOf(type))
      .filter((name) => name.toLowerCase().includes(wanted))
      .map((name) => [type, name] as const),
  );
  const found = types.filter(({ name }) => name.toLowerCase().includes(wanted));
  if (found.length + fields.length === 0) return <p class="quiet">{t('Nothing found.')}</p>;
  return (
    <ul>
      {found.slice(0, MOST).map((type) => (
        <li key={type.name}>
          <TypeLink type={type} />
        </li>
      ))}
      {fields.slice(0, MOST).map(([type, name]) => (
        <li key={`${type.name}.${name}`}>
          <TypeLink type={type} />.<code>{name}</code>
        </li>
      ))}
    </ul>
  );
}

type AnyField = Pick<
  GraphQLField<unknown, unknown>,
  'name' | 'type' | 'description' | 'deprecationReason'
> & {
  readonly args?: readonly GraphQLArgument[];
};

const fieldsOf = (type: GraphQLNamedType): Readonly<Record<string, AnyField>> =>
  isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
    ? (type.getFields() as Readonly<Record<string, AnyField>>)
    : {};

function TypeDocs({ schema, type }: { schema: GraphQLSchema; type: GraphQLNamedType }) {
  return (
    <>
      <div class="graphql-type-head">
        <h3>{type.name}</h3>
        <Button class="plain" onClick={() => show(null)}>
          {t('All types')}
        </Button>
      </div>
      {type.description && <p>{type.description}</p>}
      <ul>
        {Object.values(fieldsOf(type)).map((field) => (
          <FieldDocs key={field.name} field={field} />
        ))}
        {isEnumType(type) &&
          type.getValues().map(({ name, description }) => (
            <li key={name}>
              <code>{name}</code>
              {description && <p class="quiet">{description}</p>}
            </li>
          ))}
        {isAbstractType(type) &&
          schema.getPossibleTypes(type).map((member) => (
            <li key={member.name}>
              <TypeLink type={member} />
            </li>
          ))}
      </ul>
    </>
  );
}

function FieldDocs({
  field: { name, type, args = [], description, deprecationReason },
}: {
  field: AnyField;
}) {
  return (
    <li>
      <code>{name}</code>
      {args.length > 0 && (
        <>
          (
          {args.map((argument, index) => (
            <span key={argument.name}>
              {index > 0 && ', '}
              {argument.name}: <TypeLink type={argument.type} />
            </span>
          ))}
          )
        </>
      )}
      : <TypeLink type={type} />
      {description && <p class="quiet">{description}</p>}
      {deprecationReason != null && (
        <p class="quiet">{t('Deprecated: {reason}', { reason: deprecationReason })}</p>
      )}
    </li>
  );
}
