export const ONE = 'query One($id: ID!) { post(id: $id) { id title body } }';
export const MANY = 'query Many { posts(limit: 100) { id title body } }';
