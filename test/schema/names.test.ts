import { describe, expect, it } from 'vitest';
import { didYouMean } from '../../schema/did-you-mean.ts';
import {
  camelCase,
  indexName,
  kebabCase,
  pascalCase,
  pluralize,
  singularize,
  snakeCase,
} from '../../schema/names.ts';

describe('names', () => {
  it.each([
    ['createdAt', 'created_at'],
    ['HTMLPage', 'html_page'],
    ['avatarURL', 'avatar_url'],
    ['user', 'user'],
    ['already_snake', 'already_snake'],
    ['A', 'a'],
    ['post2', 'post2'],
    ['line1Text', 'line1_text'],
  ])('writes %s as %s', (name, snake) => {
    expect(snakeCase(name)).toBe(snake);
  });

  it('goes between the ways of writing', () => {
    expect(camelCase('BlogPost')).toBe('blogPost');
    expect(camelCase('HTMLPage')).toBe('htmlPage');
    expect(pascalCase('author_id')).toBe('AuthorId');
    expect(kebabCase('blogPosts')).toBe('blog-posts');
  });

  it.each([
    ['category', 'categories'],
    ['person', 'people'],
    ['blogPost', 'blogPosts'],
    ['box', 'boxes'],
    ['day', 'days'],
    ['bus', 'buses'],
    ['news', 'news'],
    ['branch', 'branches'],
    ['salesPerson', 'salesPeople'],
    ['child', 'children'],
    ['status', 'statuses'],
    ['Person', 'People'],
    ['user_child', 'user_children'],
  ])('makes %s plural as %s and back', (one, many) => {
    expect(pluralize(one)).toBe(many);
    expect(singularize(many)).toBe(one);
  });

  it('makes the names of tables singular', () => {
    const pairs = TABLES.trim()
      .split(/\s+/)
      .map((pair) => pair.split(':'));
    expect(pairs.length).toBeGreaterThan(100);
    expect(pairs.map(([many]) => `${many}:${singularize(many!)}`)).toEqual(
      pairs.map((pair) => pair.join(':')),
    );
  });

  it('keeps the names of indexes apart when it shortens them', () => {
    const [one, other] = [
      indexName('a'.repeat(70), ['b'], false),
      indexName('a'.repeat(70), ['c'], false),
    ];
    expect(one).toHaveLength(63);
    expect(one).not.toBe(other);
  });
});

/** Names of tables, and what one row is called. */
const TABLES = `
  movies:movie cookies:cookie caches:cache bonus:bonus order_status:order_status campus:campus
  heroes:hero lens:lens indices:index zombies:zombie brownies:brownie calories:calorie
  selfies:selfie ties:tie pies:pie niches:niche headaches:headache houses:house
  warehouses:warehouse causes:cause clauses:clause pauses:pause uses:use excuses:excuse
  spouses:spouse sizes:size prizes:prize mazes:maze menus:menu gurus:guru taxis:taxi
  status:status statuses:status virus:virus viruses:virus census:census corpus:corpus
  radius:radius focus:focus bus:bus buses:bus bonuses:bonus campuses:campus axis:axis
  basis:basis analysis:analysis analyses:analysis thesis:thesis theses:thesis crises:crisis
  diagnoses:diagnosis hypotheses:hypothesis gas:gas gases:gas canvas:canvas canvases:canvas
  alias:alias aliases:alias lenses:lens atlas:atlas bias:bias biases:bias vertices:vertex
  matrices:matrix appendices:appendix indexes:index potatoes:potato tomatoes:tomato echoes:echo
  vetoes:veto shoes:shoe toes:toe canoes:canoe photos:photo videos:video wives:wife
  thieves:thief loaves:loaf knives:knife shelves:shelf leaves:leaf wolves:wolf alumni:alumnus
  phenomena:phenomenon bacteria:bacterium dice:die people:person children:child men:man
  women:woman mice:mouse criteria:criterion data:data news:news series:series species:species
  categories:category companies:company cities:city replies:reply boxes:box taxes:tax
  branches:branch batches:batch dishes:dish classes:class addresses:address processes:process
  quizzes:quiz waltzes:waltz days:day keys:key users:user databases:database licenses:license
  courses:course purchases:purchase invoices:invoice messages:message images:image
  exchanges:exchange languages:language user_movies:user_movie order_lines:order_line
`;

describe('did you mean', () => {
  it.each([
    ['auhtor', 'author'],
    ['AUTHOR', 'author'],
    ['titel', 'title'],
    ['autho', 'author'],
  ])('takes %s for %s', (word, meant) => {
    expect(didYouMean(word, ['author', 'title', 'id'])).toBe(`Did you mean "${meant}"?`);
  });

  it('says nothing when nothing is near', () => {
    expect(didYouMean('zebra', ['author', 'title', 'id'])).toBeUndefined();
    expect(didYouMean('x', [])).toBeUndefined();
  });
});
