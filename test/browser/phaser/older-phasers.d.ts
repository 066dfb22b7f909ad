/** The type declarations of two versions can't live in one program, and what the tests use is the same. */
declare module 'phaser3' {
  import Phaser = require('phaser');
  export = Phaser;
}
declare module 'phaser360' {
  import Phaser = require('phaser');
  export = Phaser;
}
