/** The type declarations of two Phaser versions conflict in one program. The tests use only what both versions have. */
declare module 'phaser3' {
  import Phaser = require('phaser');
  export = Phaser;
}
declare module 'phaser360' {
  import Phaser = require('phaser');
  export = Phaser;
}
