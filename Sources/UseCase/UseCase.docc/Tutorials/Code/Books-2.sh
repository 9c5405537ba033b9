swift package add-dependency ../UseCase --type path
swift package add-target-dependency UseCase Books --package UseCase
swift package add-target-dependency UseCaseHistory Books --package UseCase
swift package add-target-dependency UseCaseTesting BooksTests --package UseCase
