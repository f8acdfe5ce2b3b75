import { render } from 'preact';
import { GraphqlPage } from './pages/graphql/graphql.tsx';
import { Confirmations } from './parts/confirm.tsx';
import { Notices } from './parts/notices.tsx';

const name = document.title;

/** The page of GraphQL alone: who asks is said by the headers that are typed, or by a cookie. */
render(
  <>
    <header class="explorer-top">
      <span class="brand">{name}</span>
    </header>
    <main>
      <GraphqlPage keeps />
    </main>
    <Notices />
    <Confirmations />
  </>,
  document.getElementById('explorer') ?? document.body,
);
