/** The type declarations of two versions conflict in one program. The API that the tests use is the same in both. */
declare module 'phaser3' {
  import Phaser = require('phaser');
  export = Phaser;
}
declare module 'phaser360' {
  import Phaser = require('phaser');
  export = Phaser;
}
