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

  it('keeps the names of indexes apart when it shortens them', () => {
    const [one, other] = [
      indexName('a'.repeat(70), ['b'], false),
      indexName('a'.repeat(70), ['c'], false),
    ];
    expect(one).toHaveLength(63);
    expect(one).not.toBe(other);
  });
});

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
